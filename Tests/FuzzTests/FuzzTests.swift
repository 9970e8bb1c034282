// SPDX-License-Identifier: Apache-2.0

import Foundation
import FuzzPrograms
import Testing

/// Generated programs of channels, selects, cancellation, timers and promises, against a model.
///
/// What the model checks is in `FuzzRun`; `scripts/fuzz` searches for programs that do not pass.
@Suite(.timeLimit(.minutes(30))) struct FuzzTests {
  /// Programs that the fuzzer found to reach different code.
  @Test func `the programs of the corpus do what the model says`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Corpus")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: nil
    )
    #expect(files.count >= 20)
    for file in files {
      let run = FuzzRun.of(FuzzProgram(bytes: try Data(contentsOf: file)))
      #expect(run.report == nil, "\(file.lastPathComponent)")
    }
  }

  @Test(arguments: 0..<8) func `programs made of random bytes do what the model says`(part: Int) {
    var numbers = Numbers(state: UInt64(part) << 32 | 1)
    var calls = 0
    for round in 0..<500 {
      let bytes = (0..<Int(numbers.next() % 300)).map { _ in
        UInt8(truncatingIfNeeded: numbers.next())
      }
      let run = FuzzRun.of(FuzzProgram(bytes: bytes))
      calls += run.calls
      #expect(run.report == nil, "part \(part), round \(round)")
      if run.report != nil { return }
    }
    // They do something, and do not stop at the first call.
    #expect(calls > 10_000)
  }

  /// The same bytes are the same program, and the same run.
  @Test func `a program runs the same way each time`() {
    var numbers = Numbers(state: 7)
    for _ in 0..<50 {
      let bytes = (0..<200).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
      let (one, other) = (FuzzProgram(bytes: bytes), FuzzProgram(bytes: bytes))
      #expect(one.description == other.description)
      let (first, second) = (FuzzRun.of(one), FuzzRun.of(other))
      #expect(first.calls == second.calls)
      #expect(first.complaints == second.complaints)
    }
  }
}

/// Random numbers: xorshift64* (Vigna 2014).
private struct Numbers {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return (state &* 0x2545_F491_4F6C_DD1D) >> 33
  }
}
