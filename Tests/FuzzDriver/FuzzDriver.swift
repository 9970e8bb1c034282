// SPDX-License-Identifier: Apache-2.0

import FuzzPrograms

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

#if FUZZING
/// libFuzzer's own main part, which calls `test` with bytes of its making.
///
/// A function of C's. Swift passes a few words in the same way.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
#endif

/// Runs the programs that bytes stand for: libFuzzer's, if it is built with it, else those of files.
@main
enum FuzzDriver {
  static func main() {
    #if FUZZING
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(
      runFuzzer(&count, &arguments) { bytes, count in
        FuzzDriver.test(UnsafeBufferPointer(start: bytes, count: count))
        return 0
      }
    )
    #else
    let paths = CommandLine.arguments.dropFirst()
    guard !paths.isEmpty, !paths.contains("--help") else {
      print(
        "usage: fuzz-programs FILE …\n\nRuns the programs that the bytes of the files stand for."
      )
      return
    }
    for path in paths {
      guard let bytes = contents(of: path) else {
        print("\(path): it cannot be read.")
        exit(EXIT_FAILURE)
      }
      print("\(path):\n\(FuzzProgram(bytes: bytes))")
      test(bytes)
      print("nothing is wrong\n")
    }
    #endif
  }

  /// Ends the process if something is wrong: this is how libFuzzer hears of it.
  private static func test(_ bytes: some Sequence<UInt8>) {
    guard let report = FuzzRun.of(FuzzProgram(bytes: bytes)).report else { return }
    let text = Array("\(report)\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
    abort()
  }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return bytes
  }
}
