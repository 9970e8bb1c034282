// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import CoroutinesFoundation
import CoroutineTestSupport
import Dispatch
import Foundation
import Testing

#if os(Linux)
/// A process that has no descriptors left, or no threads, in processes of their own.
///
/// Another coroutine goes on all the time: see `besideAnother`.
@Suite(.timeLimit(.minutes(30))) struct NoDescriptorTests {
  @Test func `reading a pipe without descriptors fails with what the system says`() async {
    await #expect(processExitsWith: .success) {
      try besideAnother {
        let pipe = TestPipe()
        let descriptors = TakenDescriptors(left: 0)
        // The first wait for a pipe opens one, to be woken by.
        for _ in 0..<3 {
          #expect(throws: POSIXError(.EMFILE)) {
            _ = try pipe.fileHandleForReading.co.read(upToCount: 10)
          }
        }
        descriptors.giveBack()
        let reader = launch { try pipe.fileHandleForReading.co.read(upToCount: 10) }
        try Coroutine.yield()
        try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
        try expect(reader.value(), is: Data("abc".utf8))
      }
    }
  }

  @Test func `reading a pipe without a thread fails with what the system says`() async {
    await #expect(processExitsWith: .success) {
      try besideAnother {
        let pipe = TestPipe()
        let before = OpenDescriptors.now.count
        cck_thread_fail_next(20)
        // An event loop waits in its own thread; the others have a thread in common that waits for them.
        let failures = launch(on: .queue(DispatchQueue(label: "without a thread"))) {
          for _ in 0..<20 {
            #expect(throws: POSIXError(.EAGAIN)) {
              _ = try pipe.fileHandleForReading.co.read(upToCount: 10)
            }
          }
          return true
        }
        try expect(failures.value(), is: true)
        // Each time there were two. Foundation opens some of its own when it likes.
        #expect(OpenDescriptors.now.count < before + 20)
        let reader = launch(on: .queue(DispatchQueue(label: "with one"))) {
          try pipe.fileHandleForReading.co.read(upToCount: 10)
        }
        try Coroutine.yield()
        try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
        try expect(reader.value(), is: Data("abc".utf8))
      }
    }
  }

  @Test func `files cannot be opened without descriptors, and can afterwards`() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let path = directory.appendingPathComponent("file").path
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        try besideAnother {
          let descriptors = TakenDescriptors(left: 0)
          #expect(throws: (any Error).self) { try Data.co.contents(ofFile: path) }
          #expect(throws: (any Error).self) {
            try String.co.contents(ofFile: path, encoding: .utf8)
          }
          #expect(throws: (any Error).self) {
            try FileManager.default.co.contentsOfDirectory(atPath: directory.path)
          }
          descriptors.giveBack()
          try expect(Data.co.contents(ofFile: path), is: Data("abc".utf8))
        }
      }
    }
  }

  /// A process is started whole or not at all, and nothing stays open.
  @Test(arguments: [0, 5, 9, 60])
  func `a process runs, or fails with an error, with few descriptors left`(_ left: Int) async {
    await #expect(processExitsWith: .success) { [left] in
      try besideAnother {
        // What the first process opens for good, and the poller's.
        try expect(shell("echo first").co.run().text, is: "first\n")
        let descriptors = TakenDescriptors(left: left)
        do {
          let output = try shell("cat; echo err >&2").co.run(input: Data("in".utf8))
          #expect(output.text == "in")
          #expect(output.standardError == Data("err\n".utf8))
          // Three pipes, and what Foundation needs.
          #expect(left >= 10)
        } catch {
          #expect((error as? POSIXError)?.code == .EMFILE, "\(left) left: \(error)")
          #expect(left < 10)
          // Nothing stays open. Foundation opens and closes some of its own when it likes.
          let once = OpenDescriptors.now.count
          for _ in 0..<20 { _ = try? shell("exit").co.run(input: Data()) }
          try withTimeout(.seconds(100)) {
            while OpenDescriptors.now.count > once + 10 {
              try Coroutine.sleep(for: .milliseconds(1))
            }
          }
        }
        descriptors.giveBack()
        try expect(shell("echo last").co.run().text, is: "last\n")
      }
    }
  }
}

/// Runs `body` while another coroutine goes on, and makes sure that it did, to its end.
private func besideAnother(_ body: () throws -> Void) throws {
  try runBlocking {
    let (questions, answers) = (Channel<Int>(), Channel<Int>())
    let other = launch {
      for number in questions { try answers.send(number * 2) }
      return true
    }
    func ask() throws {
      try questions.send(21)
      try expect(answers.receive(), is: 42)
    }
    try ask()
    var isOver = false
    let ticker = launch {
      // Not cancelled: in the middle of a question that would leave the other one with an answer that nobody takes.
      while !isOver {
        try ask()
        try Coroutine.sleep(for: .microseconds(100))
      }
    }
    try body()
    isOver = true
    try ticker.value()
    questions.close()
    try expect(other.value(), is: true)
  }
}

/// `#expect` for calls that throw, where an exit test's body does not let them.
private func expect<Value: Equatable>(
  _ value: @autoclosure () throws -> Value,
  is expected: Value
) throws {
  let value = try value()
  #expect(value == expected)
}
#endif
