// SPDX-License-Identifier: Apache-2.0

/// What was recorded, in the order in which it happened.
public struct Trace: Sendable {
  /// All events, by time.
  public let events: [Event]
  /// The schedulers and threads on which they happened: `Event.lane` is an index.
  public let lanes: [Lane]
  /// What is known of the coroutines in `events`, by number.
  public let coroutines: [UInt64: Member]
  /// What they waited for and sent through, in the order in which it was met.
  public let objects: [Object]
  /// From the beginning of the recording to its end.
  public let duration: Duration
  /// Events that were overwritten by later ones: what is left begins later than the recording.
  public let lostEvents: Int

  /// A scheduler, or a thread outside all schedulers.
  public struct Lane: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// It is no scheduler: one of `offload`'s threads, say.
    public let isThread: Bool
  }

  /// A coroutine.
  public struct Member: Sendable, Hashable {
    /// `Coroutine.id`.
    public let id: UInt64
    /// The name given at its launch.
    public let name: String?
    /// Where it was launched; nil if that was overwritten.
    public let creationSite: String?
    /// The coroutine that launched it; nil if there was none, or the launch was not recorded.
    public let parent: UInt64?
  }

  /// Something that coroutines use together.
  public struct Object: Sendable, Hashable {
    /// What it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A `Channel`.
      case channel
      /// A `Promise`.
      case promise
      /// A `CoroutineMutex`.
      case mutex
      /// Something else.
      case other
    }

    /// What it is.
    public let kind: Kind
    /// Its name, if it was given one.
    public let name: String?
    /// Where it was made, if that is known.
    public let creationSite: String?
  }

  /// Something that happened.
  public struct Event: Sendable, Hashable {
    /// Nanoseconds since the recording began.
    public let nanoseconds: Int64
    /// Where: an index of `Trace.lanes`.
    public let lane: Int
    /// To which coroutine; nil if to none.
    public let coroutine: UInt64?
    /// What.
    public let kind: Kind

    /// Time since the recording began.
    public var time: Duration { .nanoseconds(nanoseconds) }
  }

  /// What a coroutine waits for.
  public enum Subject: Sendable, Hashable {
    /// An object: an index of `Trace.objects`.
    case object(Int)
    /// Another coroutine's end.
    case coroutine(UInt64)
  }

  /// The other side of a value's way through a channel.
  public enum Place: Sendable, Hashable {
    /// A coroutine that waited; nil for a task.
    case coroutine(UInt64?)
    /// The channel's slot of this number.
    case slot(Int)
  }

  /// How a coroutine ended.
  public enum Ending: String, Sendable, Hashable, CaseIterable {
    /// Its body returned.
    case value
    /// Its body threw.
    case error
    /// It was cancelled, and ended with that error.
    case cancelled
  }

  /// What can happen.
  public enum Kind: Sendable, Hashable {
    /// The coroutine was launched, by another one or by none.
    case launched(by: UInt64?)
    /// It began or went on.
    case resumed
    /// It waits, in a call.
    case parked(operation: String, on: Subject?)
    /// It let others go first.
    case yielded
    /// It was made ready, by another one or by none: by a timer, a descriptor, another thread.
    case woken(by: UInt64?)
    /// Somebody asked for its cancellation.
    case cancelled(by: UInt64?)
    /// It ended.
    case ended(Ending)
    /// It sent a value through a channel, an index of `Trace.objects`.
    case sent(Int, to: Place)
    /// It received one.
    case received(Int, from: Place)
    /// The channel was full, and dropped what it sent.
    case dropped(Int)
    /// It closed the channel.
    case closed(Int)
    /// The channel made room for more values; those that it kept, `count` from slot `head` on, came to slot 0 and on.
    case grown(Int, head: Int, slots: Int)
    /// Blocking work for it began, on this thread.
    case offloadBegan
    /// That work ended.
    case offloadEnded
    /// A timer fired, so long after its deadline: as long as the loop had other things to do.
    case timerFired(late: Duration)
    /// The loop went to sleep.
    case fellAsleep
    /// The loop woke up.
    case wokeUp
  }
}
