// SPDX-License-Identifier: Apache-2.0

/// A trace as stretches and arrows: what pages and other tools draw.
struct Timeline: Sendable {
  /// What a coroutine is doing.
  enum State: Int, Sendable { case running, ready, parked }

  /// A stretch of a coroutine's life.
  struct Stretch: Sendable, Equatable {
    var coroutine: Int
    var state: State
    var start: Int64
    var end: Int64
    /// Where it runs; where it last ran.
    var lane: Int
    /// If it is parked, in which call: an index of `operations`; else -1.
    var operation = -1
    /// For what: an index of the trace's objects; -1 for none.
    var object = -1
    /// For which coroutine's end; -1 for none.
    var awaited = -1
  }

  /// Something that a lane does besides running coroutines.
  struct LaneStretch: Sendable, Equatable {
    var lane: Int
    var start: Int64
    var end: Int64
    /// The coroutine that blocking work is done for; -1 if the loop sleeps.
    var coroutine: Int
  }

  /// A moment in a coroutine's life or in a lane.
  struct Point: Sendable, Equatable {
    var time: Int64
    /// -1 for none.
    var coroutine: Int
    var lane: Int
  }

  /// What leads from one moment to another.
  struct Arrow: Sendable, Equatable {
    enum Kind: Int, Sendable { case message, wake, launch }

    var kind: Kind
    var from: Point
    var to: Point
    /// A message's channel; else -1.
    var object: Int
  }

  /// Something worth a mark.
  struct Mark: Sendable, Equatable {
    enum Kind: Int, Sendable { case cancel, close, drop, timer, failure }

    var kind: Kind
    var at: Point
    var object: Int
  }

  /// Coroutines by their first event.
  var coroutines: [UInt64] = []
  /// How each ended, if it did.
  var endings: [Trace.Ending?] = []
  var operations: [String] = []
  var stretches: [Stretch] = []
  var laneStretches: [LaneStretch] = []
  var arrows: [Arrow] = []
  var marks: [Mark] = []
}
