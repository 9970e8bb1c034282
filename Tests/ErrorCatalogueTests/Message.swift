// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A message of the library: how it comes about, and what it has to say.
struct Message: Sendable {
  /// How it reaches its reader.
  enum Way: String, Sendable {
    case thrown = "An error"
    case stop = "Stops the program"
    case print = "Printed to standard error"
  }

  /// What was done, in a few words; unique.
  let title: String
  let way: Way
  /// A part of it that says what happened.
  let what: String
  /// A part of it that says to what, or where.
  let place: String
  /// A part of it that says what to do.
  let remedy: String
  /// It changes what the whole process uses, so it needs one of its own.
  let isApart: Bool
  /// Brings it about.
  let provoke: @Sendable () throws -> Void

  /// An error's description.
  static func thrown(
    _ title: String,
    _ what: String,
    at place: String,
    do remedy: String,
    isApart: Bool = false,
    _ provoke: @escaping @Sendable () throws -> Void
  ) -> Message {
    Message(
      title: title,
      way: .thrown,
      what: what,
      place: place,
      remedy: remedy,
      isApart: isApart,
      provoke: provoke
    )
  }

  /// What a program says at its end.
  static func stop(
    _ title: String,
    _ what: String,
    at place: String,
    do remedy: String,
    _ provoke: @escaping @Sendable () throws -> Void
  ) -> Message {
    Message(
      title: title,
      way: .stop,
      what: what,
      place: place,
      remedy: remedy,
      isApart: true,
      provoke: provoke
    )
  }

  /// What is printed while the program goes on.
  static func print(
    _ title: String,
    _ what: String,
    at place: String,
    do remedy: String,
    _ provoke: @escaping @Sendable () throws -> Void
  ) -> Message {
    Message(
      title: title,
      way: .print,
      what: what,
      place: place,
      remedy: remedy,
      isApart: true,
      provoke: provoke
    )
  }

  /// What an error says to people.
  static func text(of error: any Error) -> String {
    (error as? any LocalizedError)?.errorDescription ?? "\(error)"
  }
}

/// Messages of one part of the library.
struct Chapter: Sendable {
  let title: String
  let messages: [Message]
}

/// In checked builds some messages do not come, since what they refuse is possible.
#if COROUTINES_CHECKED
let isPlainBuild = false
#else
let isPlainBuild = true
#endif

/// All messages, in the order of the document.
let catalogue: [Chapter] = [
  coroutineMessages, scopeMessages, channelMessages, generatorMessages, promiseMessages,
  actorMessages, supervisionMessages, lockMessages, dumpMessages, tracingMessages,
  inputOutputMessages,
  foundationMessages,
  testingMessages, explorationMessages, coswiftMessages,
]

/// An error of a program that uses the library.
struct OutOfInk: Error {}

/// A value that is taken where the compiler sees a hand-over and the program makes sure that it is none.
struct Unchecked<Value>: @unchecked Sendable {
  // SAFETY: programs that are to go wrong on purpose, each in a process of its own.
  let value: Value
}
