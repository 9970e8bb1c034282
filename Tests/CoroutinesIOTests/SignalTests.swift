// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import Synchronization
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// How many signals have been passed over.
private let passedOver = Atomic<Int>(0)

/// Does nothing, but counts.
///
/// Not `SIG_IGN`, which the programs that other tests start meanwhile would inherit: a shell cannot
/// trap what is ignored when it begins.
private let passOver: @convention(c) (Int32) -> Void = { _ in
  passedOver.add(1, ordering: .relaxed)
}

/// Signals of the system as channels; one test after another, because a process has one handler of each.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SignalTests {
  /// The system delivers a signal late at times, when its channel is closed already: it must not end the tests.
  init() {
    for number in [SIGUSR1, SIGUSR2, SIGHUP] { signal(number, passOver) }
  }

  /// Sends a signal to this process.
  private func raise(_ signal: Signal) { kill(getpid(), signal.rawValue) }

  /// Sends one that nobody catches, and returns when it has been passed over: late, it would be another test's.
  private func raiseInVain(_ signal: Signal) {
    let before = passedOver.load(ordering: .relaxed)
    raise(signal)
    // No sleep: a test of blocking calls may count those of the whole process.
    while passedOver.load(ordering: .relaxed) == before { sched_yield() }
  }

  @Test func `signals come through the channel, to all who are open for them`() throws {
    try runBlocking {
      let one = try SignalChannel(for: .user1, .user2)
      let other = try SignalChannel(for: .user2)
      raise(.user1)
      #expect(try one.receive() == .user1)
      raise(.user2)
      #expect(try one.receive() == .user2)
      #expect(try other.receive() == .user2)
      #expect(other.received.isEmpty)
      one.close()
      raise(.user2)
      #expect(try other.receive() == .user2)
    }
  }

  @Test func `what was set before is back when the last is closed`() throws {
    try runBlocking {
      let one = try SignalChannel(for: .user1)
      let other = try SignalChannel(for: .user1)
      one.close()
      raise(.user1)
      #expect(try other.receive() == .user1)
      other.close()
      other.close()
      // Passed over again: it neither ends the process nor comes.
      raiseInVain(.user1)
      var now = sigaction()
      sigaction(SIGUSR1, nil, &now)
      #if canImport(Darwin)
      let handler = now.__sigaction_u.__sa_handler
      #else
      let handler = now.__sigaction_handler.sa_handler
      #endif
      #expect(unsafeBitCast(handler, to: Int.self) == unsafeBitCast(passOver, to: Int.self))
    }
  }

  @Test func `a channel that nobody has is closed, and others' changes stay`() throws {
    try runBlocking {
      func open() throws { _ = try SignalChannel(for: .user2) }
      try open()
      // Late, it would end the process below.
      raiseInVain(.user2)
      let channel = try SignalChannel(for: .user2)
      signal(SIGUSR2, SIG_DFL)
      channel.close()
      #expect(unsafeBitCast(signal(SIGUSR2, passOver), to: Int.self) == 0)
    }
  }

  @Test func `a flood counts at least once and at most twice, and hides no other signal`() throws {
    try runBlocking {
      let signals = try SignalChannel(for: .user1, .user2)
      // For this thread, whose handler has then run; for the process any number of its threads could be about to run it.
      // Tests run on threads that block all signals.
      var both = sigset_t()
      var before = sigset_t()
      sigemptyset(&both)
      sigaddset(&both, SIGUSR1)
      sigaddset(&both, SIGUSR2)
      pthread_sigmask(SIG_UNBLOCK, &both, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      for _ in 0..<1000 { pthread_kill(pthread_self(), SIGUSR1) }
      pthread_kill(pthread_self(), SIGUSR2)
      var counts: [Signal: Int] = [:]
      while counts[.user1] == nil || counts[.user2] == nil {
        counts[try signals.receive(), default: 0] += 1
      }
      // One is held out, one has come since, and one is noted by the handler and not yet told to the channel.
      #expect((1...3).contains(counts[.user1] ?? 0))
      #expect(counts[.user2] == 1)
    }
  }

  @Test func `a signal wins a select`() throws {
    try runBlocking {
      let signals = try SignalChannel(for: .hangUp)
      raise(.hangUp)
      let text = try select {
        Receive(from: signals.received) { "\($0)" }
        After(.seconds(60)) { "nothing" }
      }
      #expect(text == "SIGHUP")
      #expect("\(Signal(rawValue: 34))" == "signal 34")
    }
  }

  @Test(arguments: [
    Signal.kill, .stop, Signal(rawValue: SIGSEGV), Signal(rawValue: 0), Signal(rawValue: 99),
  ])
  func `what cannot be caught is refused, and nothing else is caught then`(_ signal: Signal) throws
  {
    var before = sigaction()
    sigaction(SIGUSR1, nil, &before)
    let error = #expect(throws: IOError.self) { _ = try SignalChannel(for: .user1, signal) }
    #expect(error?.code == EINVAL)
    #expect(error?.subject == "\(signal)")
    var after = sigaction()
    sigaction(SIGUSR1, nil, &after)
    #expect(after.sa_flags == before.sa_flags)
  }

  // MARK: - Ends of waits

  @Test func `cancelling ends a receive and loses no signal (rules 2, 3 and 8)`() throws {
    try runBlocking {
      let signals = try SignalChannel(for: .user1)
      let waiting = launch { try signals.receive() }
      while waiting.state != .suspended { try Coroutine.yield() }
      waiting.cancel()
      #expect(throws: CancellationError.self) { _ = try waiting.value() }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(5)) { _ = try signals.receive() }
      }
      raise(.user1)
      #expect(try signals.receive() == .user1)
    }
  }

  @Test func `closing ends a receive (rule 5)`() throws {
    try runBlocking {
      let signals = try SignalChannel(for: .user1)
      let waiting = launch { Array(signals.received) }
      while waiting.state != .suspended { try Coroutine.yield() }
      signals.close()
      #expect(try waiting.value().isEmpty)
      #expect(throws: ChannelError.self) { _ = try signals.receive() }
    }
  }

  @Test func `channels leave no descriptor open, and may be opened while signals come`() async {
    await #expect(processExitsWith: .success) {
      requireNoDescriptorsLeft {
        try runBlocking {
          let keeper = try SignalChannel(for: .user1)
          for _ in 0..<100 {
            let signals = try SignalChannel(for: .user1, .user2)
            kill(getpid(), SIGUSR1)
            guard try keeper.receive() == .user1, try signals.receive() == .user1 else {
              fatalError("another signal")
            }
            signals.close()
          }
        }
      }
    }
  }

  @Test func `without a channel a signal does what it always did`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      func run() throws {
        try runBlocking {
          let signals = try SignalChannel(for: .terminate)
          kill(getpid(), SIGTERM)
          guard try signals.receive() == .terminate else { return }
          signals.close()
          kill(getpid(), SIGTERM)
          try Coroutine.sleep(for: .seconds(60))
        }
      }
      try run()
    }
  }
}
