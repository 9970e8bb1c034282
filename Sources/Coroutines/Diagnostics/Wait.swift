// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
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
  /// One of the things that could end it.
  package struct Subject {
    package let object: any WaitSubject
    /// What it is waited for to do, where the operation does not tell: `to receive`.
    package let purpose: String?

    init(_ object: any WaitSubject, _ purpose: String? = nil) {
      self.object = object
      self.purpose = purpose
    }

    package var description: String { described(as: object.waitSubjectDescription) }

    /// The same, with what the object has told of itself before.
    func described(as description: String) -> String {
      purpose.map { "\(description), \($0)" } ?? description
    }
  }

  /// The call that parked it: `Channel.receive()`.
  package let operation: String
  /// What it waits for, if the call told: of a `select` its channels, else one thing.
  package let subjects: [Subject]

  /// What it waits for: `channel made at Main.swift:12`; nil if the call did not tell.
  package var subjectDescription: String? {
    subjects.isEmpty ? nil : subjects.map(\.description).joined(separator: ", or ")
  }

  /// The coroutine without which the wait does not end, if there is exactly one.
  package var holder: Coroutine? {
    subjects.count == 1 ? subjects.first?.object.waitSubjectHolder : nil
  }

  /// `Channel.receive() on channel made at Main.swift:12`.
  package var description: String {
    subjectDescription.map { "\(operation) on \($0)" } ?? operation
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
    if let subject = subject as? any WaitSubject {
      return Wait(operation: operation, subjects: [Wait.Subject(subject)])
    }
    return Wait(operation: operation, subjects: fiber.pointee.waiter.map(Self.subjects) ?? [])
  }

  /// What can be told from a node alone, so that those who wait need not tell.
  private static func subjects(of waiter: UnsafeMutablePointer<Waiter>) -> [Wait.Subject] {
    if let clauses = Selection.subjects(of: waiter) { return clauses }
    guard let queue = waiter.pointee.queue, let (number, direction) = DescriptorTable.whose(queue)
    else { return [] }
    let purpose = direction == .reading ? "to read" : "to write"
    return [Wait.Subject(AwaitedDescriptor(number), purpose)]
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
        + endsHeld
    }
  }

  /// By how many references its ends are held, of a channel that `makeEnds` made.
  ///
  /// To be asked under its lock.
  private var endsHeld: String {
    // Without one of the two it is closed, and nobody waits (K3).
    let rights = core.pointee.rights
    guard let send = rights.send, let receive = rights.receive else { return "" }
    // SAFETY: objects whose memory is there while the lock is held (K5); counting retains nothing.
    let (senders, receivers) = (swift_retainCount(send), swift_retainCount(receive))
    return "; its send end is held by \(senders) reference\(senders == 1 ? "" : "s"), "
      + "its receive end by \(receivers)"
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
