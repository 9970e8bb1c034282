// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `iter`, `same_channel`, `thread_locals`.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamIterationTests {
  // MARK: - iter

  @Test(arguments: CrossbeamKind.mpsc)
  func `in many orders, a loop over a channel sums all values and ends with the closing`(
    kind: CrossbeamKind
  ) throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (channel, total) = (kind.channel(), kind.channel())
      launch {
        var sum = 0
        for value in channel { sum += value }
        try total.send(sum)
      }
      for value in [3, 1, 2] { try channel.send(value) }
      channel.close()
      try CrossbeamFailure.unless(total.receive() == 6, "another sum")
    }
  }

  @Test(arguments: CrossbeamKind.mpsc)
  func `in many orders, a loop that is left takes no more than it has seen`(
    kind: CrossbeamKind
  ) throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (channel, counts) = (kind.channel(), kind.channel())
      launch {
        var count = 0
        for value in channel {
          if count >= 3 { break }
          count += value
        }
        try counts.send(count)
      }
      for _ in 0..<3 { try channel.send(2) }
      let isKept = channel.sendIfReady(2).isSent
      channel.close()
      try CrossbeamFailure.unless(counts.receive() == 4, "another count")
      try CrossbeamFailure.unless(
        channel.receiveIfReady() == (isKept ? .received(2) : .closed),
        "the loop has swallowed a value"
      )
    }
  }

  @Test
  func `in many orders, values that are there are taken without waiting until there are none`()
    throws
  {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (requests, answers) = (
        Channel<Void>(capacity: .unbounded), Channel<Int>(capacity: .unbounded)
      )
      let asking = launch {
        var count = 0
        while count < 6 {
          try requests.send(())
          try Coroutine.yield()
          while count < 6, case .received(let value) = answers.receiveIfReady() { count += value }
        }
        requests.close()
        answers.close()
        return count
      }
      for _ in requests {
        do { try answers.send(2) } catch ChannelError.closed { break }
      }
      try CrossbeamFailure.unless(asking.value() == 6, "another count")
    }
  }

  @Test func `an iterator keeps its channel, and gives what is in it and then nothing`() throws {
    try runBlocking {
      var iterator = {
        let channel = Channel<Int>(capacity: .unbounded)
        channel.sendIfReady(1)
        channel.sendIfReady(2)
        channel.close()
        return channel.makeIterator()
      }()
      #expect(iterator.next() == 1)
      #expect(iterator.next() == 2)
      #expect(iterator.next() == nil)
      #expect(iterator.next() == nil)
    }
  }

  @Test func `an iterator of a receiving end gives what is in the channel and then nothing`() throws
  {
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      try channel.send(1)
      try channel.send(2)
      channel.close()
      var iterator = channel.receiveEnd.makeIterator()
      #expect(iterator.next() == 1)
      #expect(iterator.next() == 2)
      #expect(iterator.next() == nil)
    }
  }

  // MARK: - same_channel

  @Test(arguments: CrossbeamKind.allCases)
  func `a channel is itself through every handle, and no other of its kind`(
    kind: CrossbeamKind
  ) throws {
    let (one, other) = (kind.channel(), kind.channel())
    let handle = one
    #expect(handle === one)
    #expect(other !== one)
    #expect(other !== handle)
    // Copies of an end are ends of one channel.
    try runBlocking {
      let (sender, receiver) = (one.sendEnd, one.receiveEnd)
      let copies = (sender, receiver)
      launch { try copies.0.send(1) }
      try #expect(receiver.receive() == 1)
      launch { try sender.send(2) }
      try #expect(copies.1.receive() == 2)
      #expect(other.receiveIfReady() == .empty)
    }
  }

  @Test(arguments: [false, true])
  func `channels of time differ, whether their times do or not`(isTicking: Bool) throws {
    try CrossbeamTimeline.run { time in
      func make(_ milliseconds: Int) -> Channel<Duration> {
        isTicking
          ? time.ticks(every: .milliseconds(milliseconds))
          : time.alarm(after: .milliseconds(milliseconds))
      }
      let (one, same, longer) = (make(50), make(50), make(100))
      #expect(one !== same)
      #expect(one !== longer)
      // Each has its own value.
      try #expect(one.receive() == .milliseconds(50))
      try #expect(same.receive() == .milliseconds(50))
      try #expect(longer.receive() == .milliseconds(100))
    }
  }

  @Test func `channels of different kinds differ`() {
    let (rendezvous, unbounded) = (
      Channel<Int>(capacity: .rendezvous), Channel<Int>(capacity: .unbounded)
    )
    #expect(rendezvous !== unbounded)
  }

  // MARK: - thread_locals

  /// What the end of a thread leaves behind.
  private final class Trace: @unchecked Sendable {
    // SAFETY: used by one thread, and by another after that one was joined.
    var key = pthread_key_t()
    var outcome: String?

    /// Exchanges values in coroutines on the calling thread.
    static func useChannels() throws -> String {
      try runBlocking {
        let (idle, channel) = (Channel<Int>(), Channel<Int>())
        launch { try channel.send(7) }
        let received = try channel.receive()
        return try select {
          Receive(from: idle) { _ in "a value from nowhere" }
          After(.microseconds(1)) { "received \(received), then time was up" }
        }
      }
    }

    /// Runs when the thread's variables are destroyed: the library's first, since it made its key first.
    static func atThreadExit(_ context: UnsafeMutableRawPointer?) {
      guard let context else { return }
      let trace = Unmanaged<Trace>.fromOpaque(context).takeRetainedValue()
      trace.outcome = (try? useChannels()) ?? "an error"
    }

    static func runThread(_ context: UnsafeMutableRawPointer?) {
      guard let context else { return }
      let trace = Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue()
      // The library has variables of this thread from now on.
      _ = try? useChannels()
      pthread_setspecific(trace.key, context)
    }
  }

  @Test func `a thread that ends may still use channels, after its own variables have gone`() throws
  {
    _ = try Trace.useChannels()
    let trace = Trace()
    try #require(pthread_key_create(&trace.key) { Trace.atThreadExit($0) } == 0)
    defer { pthread_key_delete(trace.key) }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    // SAFETY: the thread's destructor takes this reference over.
    let context = Unmanaged.passRetained(trace).toOpaque()
    let outcome = pthread_create(
      &thread,
      nil,
      {
        Trace.runThread($0)
        return nil
      },
      context
    )
    try #require(outcome == 0)
    #if canImport(Darwin)
    pthread_join(try #require(thread), nil)
    #else
    pthread_join(thread, nil)
    #endif
    #expect(trace.outcome == "received 7, then time was up")
  }
}
