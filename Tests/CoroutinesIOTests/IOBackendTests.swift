// SPDX-License-Identifier: Apache-2.0

import CoroutinesIO
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Which poller runs, and how one asks for another.
@Suite(.timeLimit(.minutes(30))) struct IOBackendTests {
  #if os(Linux)
  @Test func `epoll is what runs if it is asked for, or nothing is`() async throws {
    let asked = try await #require(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      setenv("COROUTINES_POLLER", "epoll", 1)
      #expect(IOBackend.current == .epoll)
      #expect("\(IOBackend.current)" == "epoll")
      exit(0)
    }
    #expect(told(asked.standardErrorContent).isEmpty)
    let notAsked = try await #require(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      unsetenv("COROUTINES_POLLER")
      #expect(IOBackend.current == .epoll)
      exit(0)
    }
    #expect(told(notAsked.standardErrorContent).isEmpty)
  }

  @Test func `io_uring runs if it is asked for, or one line says why it does not`() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(3),
      observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      setenv("COROUTINES_POLLER", "io_uring", 1)
      print("runs \(IOBackend.current).")
      #expect(IOBackend.current == IOBackend.current)
      fflush(nil)
      exit(3)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    let errors = told(result.standardErrorContent)
    if output.contains("runs io_uring.") {
      #expect(errors.isEmpty)
    } else {
      #expect(output.contains("runs epoll."))
      #expect(errors.count == 1)
      #expect(errors.first?.contains("io_uring is not to be had: ") == true)
    }
  }

  @Test func `a poller that there is not is told, and the usual one runs`() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(3),
      observing: [\.standardErrorContent]
    ) {
      setenv("COROUTINES_POLLER", "kqueue", 1)
      exit(IOBackend.current == .epoll && IOBackend.current == .epoll ? 3 : 4)
    }
    let errors = told(result.standardErrorContent)
    #expect(errors.count == 1)
    #expect(errors.first?.contains("COROUTINES_POLLER: there is no \"kqueue\" here.") == true)
  }

  /// The lines that are ours; the testing library writes there, too.
  private func told(_ bytes: [UInt8]) -> [Substring] {
    bytes.split(separator: 10).map { Substring(decoding: $0, as: UTF8.self) }
      .filter { $0.contains("swift-coroutines") }
  }
  #else
  @Test func `kqueue is what runs`() { #expect(IOBackend.current == .kqueue) }
  #endif
}
