// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Testing
import coswift

/// "Architecture design", sections "The design of the interface" and "The design for Swift".
@Suite(.timeLimit(.minutes(30))) struct DesignSwiftTests {
  // "Generics say what channels and promises carry", "tuples are used".
  @Test func `channels and promises have the types of what they carry, tuples among them`() throws {
    let log = Log()
    try inCoroutine {
      let channel = Chan<(String, Int)>(buffCount: 1)
      try channel.send(val: ("one", 1))
      let (name, number) = try channel.receive()
      log("\(name) \(number)")
      let promise = Promise<[Int]> { fulfill, _ in fulfill([1, 2]) }
      let values: [Int] = try co_await(promise: promise).get()
      log("\(values)")
    }
    #expect(log.entries == ["one 1", "[1, 2]"])
  }

  // "co_launch is the entry from threads to coroutines; await and yield rest on channels; co_delay".
  @Test func `from a thread one gets into a coroutine, where one can await, yield and delay`()
    throws
  {
    let log = Log()
    let end = DispatchSemaphore(value: 0)
    let thread = DispatchQueue(label: "thread")
    thread.async {
      co_launch {
        let letters = co_sequence(String.self) {
          for letter in ["a", "b"] { try yield { letter } }
        }
        let first = try letters.next()
        let second = try letters.next()
        log(first + second)
        try co_delay(0.001)
        log("delayed")
        end.signal()
      }
    }
    try #require(end.wait(timeout: .now() + 300) == .success)
    withExtendedLifetime(thread) {}
    #expect(log.entries == ["ab", "delayed"])
  }
}
