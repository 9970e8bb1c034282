// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// Something that coroutines wait for, as reports tell of it.
package protocol WaitSubject: AnyObject {
  /// What it is, and where it was made: `channel "jobs" (Main.swift:12)`.
  var waitSubjectDescription: String { get }

  /// What is in it and who else waits for it, if that is of use: `2 of 8 kept; #4 and #9 wait to send`.
  ///
  /// May be asked from any thread.
  var waitSubjectState: String? { get }

  /// The coroutine without which the wait does not end, if there is exactly one.
  ///
  /// To be asked with the turn of its scheduler, while nothing else runs.
  var waitSubjectHolder: Coroutine? { get }
}

extension WaitSubject {
  package var waitSubjectState: String? { nil }
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

// MARK: - What can be waited for

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

  package var waitSubjectState: String? {
    core.lock.withLock {
      let limit = core.pointee.limit
      let kept =
        switch limit {
        case 0: "a rendezvous"
        case .max: "\(core.pointee.count) kept, without a limit"
        default: "\(core.pointee.count) of \(limit) kept"
        }
      return
        "\(kept); \(core.pointee.senders.listed) to send, \(core.pointee.receivers.listed) to receive"
    }
  }
}

extension CoroutineMutex: WaitSubject {
  package var waitSubjectDescription: String { "mutex held by \(holderDescription)" }
  package var waitSubjectHolder: Coroutine? { holdingCoroutine }
}

extension CoroutineSemaphore: WaitSubject {
  package var waitSubjectDescription: String { "semaphore with \(available) permits left" }
}

extension CoroutineReadWriteLock: WaitSubject {
  package var waitSubjectDescription: String { "read-write lock" }
}

extension CoroutineWaitGroup: WaitSubject {
  package var waitSubjectDescription: String { "wait group with \(count) things to be done" }
}

extension CoroutineBarrier: WaitSubject {
  package var waitSubjectDescription: String { "barrier" }
}

extension CoroutineCondition: WaitSubject {
  package var waitSubjectDescription: String { "condition" }
}

extension WaitQueue {
  /// Who waits in it: `#4, #9 and 3 more wait`.
  ///
  /// To be asked under the lock that guards it.
  package var listed: String {
    var numbers: [String] = []
    var count = 0
    var waiter = first
    while let current = waiter {
      // SAFETY: a node in a queue is in the frame of a party that waits (W3), and it is not resumed while the
      // queue's lock is held.
      waiter = current.pointee.next
      if let race = current.pointee.race, race.pointee.winner.load(ordering: .acquiring) != -1 {
        continue
      }
      count += 1
      guard count <= 8 else { continue }
      numbers.append(current.pointee.fiber.map { "#\($0.pointee.identifier)" } ?? "a task")
    }
    if count == 0 { return "nobody waits" }
    if count > numbers.count {
      return "\(numbers.joined(separator: ", ")) and \(count - numbers.count) more wait"
    }
    return numbers.joined(separator: ", ") + (count == 1 ? " waits" : " wait")
  }
}
