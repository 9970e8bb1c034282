// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Which signals a process gets that is started here.
enum SignalMask {
  /// Does something with no more signals blocked than the main thread blocks.
  ///
  /// A process begins with the signals blocked that the thread blocks which starts it. libdispatch blocks
  /// nearly all of them on its threads, and Foundation on Linux passes that on: the process would never get
  /// the SIGTERM that is to end it, or, if it is a shell, only once it has started a program, which then
  /// goes on without it.
  ///
  /// What the main thread does not block may come to this process at any time, so that it may come on this
  /// thread changes nothing. What it does block, somebody may be waiting for in another way.
  static func asOfMainThread<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if os(Linux)
    guard let blocked = blockedByMainThread() else { return try body() }
    var others = sigset_t()
    var before = sigset_t()
    sigemptyset(&others)
    for number in 1...Int32(64) where blocked >> UInt64(number - 1) & 1 == 0 {
      sigaddset(&others, number)
    }
    pthread_sigmask(SIG_UNBLOCK, &others, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    #endif
    return try body()
  }

  #if os(Linux)
  /// One bit a signal; nil if the system does not tell.
  static func blockedByMainThread() -> UInt64? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    return status.flatMap(blocked(in:))
  }

  /// The mask in the text of a `/proc/…/status`.
  static func blocked(in status: String) -> UInt64? {
    let line = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
    return line.flatMap {
      UInt64($0.dropFirst("SigBlk:".count).drop(while: \.isWhitespace), radix: 16)
    }
  }
  #endif
}
