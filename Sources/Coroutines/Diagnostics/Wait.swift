// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Something that coroutines wait for, as reports tell of it.
package protocol WaitSubject: AnyObject {
  /// What it is, and where it was made: `channel "jobs" (Main.swift:12)`.
  var waitSubjectDescription: String { get }

  /// The coroutine without which the wait does not end, if there is exactly one.
  ///
  /// To be asked with the turn of its scheduler, while nothing else runs.
  var waitSubjectHolder: Coroutine? { get }
}

extension WaitSubject {
  package var waitSubjectHolder: Coroutine? { nil }
}

/// What a suspended coroutine waits for.
package struct Wait {
  /// The call that parked it: `Channel.receive()`.
  package let operation: String
  /// What it waits for, if the call told.
  package let subject: (any WaitSubject)?

  /// `Channel.receive() on channel (Main.swift:12)`.
  package var description: String {
    subject.map { "\(operation) on \($0.waitSubjectDescription)" } ?? operation
  }
}

extension Coroutine {
  /// What it waits for, if it is suspended.
  ///
  /// To be asked with the turn of its scheduler.
  package final var wait: Wait? {
    guard state == .suspended else { return nil }
    // SAFETY: a static string, and an object that the code that parked holds until it runs again.
    let operation = fiber.pointee.operation.map { String(cString: $0) } ?? "an unknown call"
    let subject = fiber.pointee.waitsOn.map {
      Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
    }
    return Wait(operation: operation, subject: subject as? any WaitSubject)
  }
}

extension Coroutine: WaitSubject {
  package final var waitSubjectDescription: String { "\(description), launched at \(creationSite)" }
  package final var waitSubjectHolder: Coroutine? { isFinished ? nil : self }
}

extension AnyPromise: WaitSubject {
  package final var waitSubjectDescription: String { "promise made at \(creationSite)" }
}

extension Channel: WaitSubject {
  package var waitSubjectDescription: String {
    "channel \(name.map { "\"\($0)\" " } ?? "")made at \(creationSite)"
  }
}

extension CoroutineMutex: WaitSubject {
  package var waitSubjectDescription: String { "mutex held by \(holderDescription)" }
  package var waitSubjectHolder: Coroutine? { holdingCoroutine }
}
