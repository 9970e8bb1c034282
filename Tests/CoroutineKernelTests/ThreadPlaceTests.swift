// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Which thread is the process's first, of which each thread keeps a note.
@Suite(.timeLimit(.minutes(30))) struct ThreadPlaceTests {
  @Test func `no other thread is, whoever has asked before`() {
    onThreads(4) { _ in
      for _ in 0..<3 { #expect(cck_thread_is_main() == 0) }
    }
  }

  #if os(Linux)
  // Swift does not import it: what a child of a process with threads may do is little, which is done here.
  private static let fork: (@convention(c) () -> pid_t)? = {
    // SAFETY: the function's type, as fork(2) says.
    dlsym(nil, "fork").map { unsafeBitCast($0, to: (@convention(c) () -> pid_t).self) }
  }()

  /// What `body` says in a child that this thread forks; -1 if there was none.
  private static func inChild(_ body: () -> Int32) -> Int32 {
    guard let fork else { return -1 }
    let child = fork()
    if child == 0 { _exit(body()) }
    var status: Int32 = 0
    guard child > 0, waitpid(child, &status, 0) == child, status & 0x7f == 0 else { return -1 }
    return status >> 8 & 0xff
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "sanitizers do not like such forks"))
  func `a child's only thread is its first, though it was not in its parent`() {
    onThreads(2) { index in
      // One has asked before.
      if index == 0 { #expect(cck_thread_is_main() == 0) }
      #expect(Self.inChild { cck_thread_is_main() } == 1)
      #expect(cck_thread_is_main() == 0)
    }
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "sanitizers do not like such forks"))
  func `a child of a first thread has a first thread`() {
    onThreads(1) { _ in
      let answer = Self.inChild {
        let isFirst = cck_thread_is_main() == 1
        let grandchild = Self.inChild { cck_thread_is_main() }
        return isFirst && grandchild == 1 && cck_thread_is_main() == 1 ? 7 : 8
      }
      #expect(answer == 7)
    }
  }
  #endif
}
