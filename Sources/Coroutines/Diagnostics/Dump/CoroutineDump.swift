// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// All coroutines of the process at one moment: what each waits for, since when, who could wake it, and where in
/// the code it is.
///
/// ```swift
/// print(CoroutineDump.take())
/// ```
///
/// Inside `runBlocking` and `withCoroutine` the signal SIGQUIT (Ctrl-\ in a terminal) prints one to standard error; see
/// `DumpSignal`.
///
/// Each scheduler is asked to tell of its own coroutines between two of their turns, so what is told is true, and
/// the coroutines of one scheduler are told of as of one moment. A scheduler that does not come to it in time,
/// because a coroutine of its computes or blocks it, is told of as far as can be seen from outside: where its
/// thread is.
///
/// Cost: nothing until a dump is taken, but for three stores for each coroutine and one for each wait. A dump
/// takes about a microsecond for each coroutine; its text also the reading of the program's debug information.
public struct CoroutineDump: Sendable, CustomStringConvertible {
  /// A coroutine in a dump.
  public struct Entry: Sendable, CustomStringConvertible {
    /// The coroutine's number.
    public let id: UInt64
    /// Its name, if it was given one.
    public let name: String?
    /// What it was doing.
    public let state: Coroutine.State
    /// Cancellation has been asked for.
    public let isCancelled: Bool
    /// Where it was launched.
    public let creationSite: SourceSite
    /// The number of the coroutine that launched it, if that has not ended.
    public internal(set) var parent: UInt64?
    /// Its scheduler: an index in `schedulers`.
    public internal(set) var scheduler: Int
    /// What it waits for, if it is suspended.
    public let wait: Wait?
    /// Where it is in the code, the innermost place first; empty if it has not begun.
    ///
    /// The first look at an address reads the program's debug information; see `StackFrame`.
    public var stack: [StackFrame] { StackFrame.frames(of: addresses) }
    /// The addresses of `stack`.
    let addresses: [UInt]
    /// Bytes of address space of its stack.
    public let stackSize: Int
    /// Bytes of it that have been in use at some time, by this coroutine or by one that had the stack before;
    /// nil if it has not begun, or in a dump of more than 10,000 coroutines.
    public let stackUsed: Int?
    /// Lists that its parent can be found by, and that its children are in.
    let membership: UInt?
    let lists: [UInt]

    /// For people: the paragraph of the dump's text that tells of it.
    public var description: String { DumpText.text(of: self) }
  }

  /// What a coroutine in a dump waits for.
  public struct Wait: Sendable {
    /// Something that is waited for.
    public struct Subject: Sendable, Equatable {
      /// What it is, and where it was made: `channel "jobs" made at main.swift:12`.
      public let description: String
      /// What is in it, and who else waits for it.
      public let details: String?
    }

    /// The call that parked it: `Channel.receive()`.
    public let operation: String
    /// What could end the wait, if the call told: of a `select` its channels, else one thing.
    public let subjects: [Subject]
    /// The number of the coroutine without which the wait does not end, if there is exactly one.
    public let holder: UInt64?
    /// How long it has waited.
    ///
    /// By its scheduler's last look at the clock before the wait: it may have begun a little later.
    public let duration: Duration
    /// How long until a timer ends the wait: of a sleep, or of a limit around it; nil without any.
    public let timeLeft: Duration?
  }

  /// A scheduler in a dump.
  public struct SchedulerEntry: Sendable {
    /// What it is: `runBlocking at main.swift:3`.
    public let label: String
    /// Coroutines that have not ended; perhaps without those that have just been launched, if it gives no answer.
    public let liveCount: Int
    /// The system's number of the thread that it runs on, or ran on last, if that is known.
    public let thread: Int?
    /// Why its coroutines are not in the dump; nil if they are.
    public let silence: String?
    /// The coroutine that keeps it from answering, if one does.
    public let running: UInt64?
    /// Where its thread is, if it does not answer.
    public var stack: [StackFrame] { StackFrame.frames(of: addresses) }
    /// The addresses of `stack`.
    let addresses: [UInt]
  }

  /// When it was taken, in seconds since 1970.
  public let time: Double

  /// The schedulers that have coroutines, the oldest first.
  public let schedulers: [SchedulerEntry]

  /// The coroutines, in the order of their numbers.
  public let entries: [Entry]

  /// For people: schedulers, then coroutines, those that are at the same place together.
  public var description: String { DumpText(self).text }

  /// For programs: an object with `time`, `process`, `schedulers` and `coroutines`, whose fields are named like
  /// those here; absent where there is nothing to tell.
  public var json: String { DumpJSON(self).text }
}
