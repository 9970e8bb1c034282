// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// Who was launched, and which generators were started, by a stretch of code and by what it launched, and has
/// not ended: what a leak check asks.
///
/// A coroutine belongs to the census of whoever launches it: a coroutine, or a thread outside coroutines. So
/// what else the process does at the same time does not count.
///
/// While no census is open, launching costs nothing more: event loops tell nobody of launches, and all else
/// looks at one flag.
package final class Census: @unchecked Sendable {
  // SAFETY: guarded by the office's lock.

  /// Whose launches count.
  private enum Party: Hashable {
    case coroutine(UInt64)
    case thread(UInt)

    init(_ fiber: UnsafeMutablePointer<Fiber>?, _ thread: ThreadRecord) {
      if let fiber {
        self = .coroutine(fiber.pointee.identifier)
      } else {
        self = .thread(UInt(bitPattern: thread))
      }
    }
  }

  /// All that is open.
  private struct Office {
    var members: [Party: Census] = [:]
    var generators: [ObjectIdentifier: Census] = [:]
  }

  private static let lock = AllocatedLock()
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var office = Office()
  private static let open = Atomic<Int>(0)

  /// At least one is open.
  package static var isOpen: Bool { open.load(ordering: .relaxed) > 0 }

  private let party: Party
  /// The census that this one stands inside of.
  private let outer: Census?
  /// The event loop that this one makes tell of launches.
  private var home: UnsafeMutablePointer<Home>?
  private var liveCoroutines: [UInt64: Coroutine] = [:]
  private var liveGenerators: [ObjectIdentifier: SourceSite] = [:]

  /// Opens a census of what the calling code launches from now on.
  package init() {
    let thread = currentThread()
    let party = Party(thread.runningFiber, thread)
    self.party = party
    outer = Self.lock.withLock { Self.office.members[party] }
    Self.open.wrappingAdd(1, ordering: .sequentiallyConsistent)
    Self.lock.withLock {
      Self.office.members[party] = self
      guard let home = thread.currentHome else { return }
      self.home = home
      // This thread has the home's turn.
      home.addListener()
    }
  }

  /// Ends it; to be called by the code that opened it.
  ///
  /// Those who are left belong to the census around it, if there is one.
  package func close() {
    let left = Self.lock.withLock {
      Self.office.members[party] = outer
      for id in liveCoroutines.keys { Self.office.members[.coroutine(id)] = outer }
      for id in liveGenerators.keys { Self.office.generators[id] = outer }
      outer?.liveCoroutines.merge(liveCoroutines) { one, _ in one }
      outer?.liveGenerators.merge(liveGenerators) { one, _ in one }
      home?.removeListener()
      defer { liveCoroutines = [:] }
      return liveCoroutines
    }
    Self.open.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    // Released after the lock.
    withExtendedLifetime(left) {}
  }

  /// Those who have not ended, in the order of their launches.
  package var coroutines: [Coroutine] {
    Self.lock.withLock { liveCoroutines.values.sorted { $0.id < $1.id } }
  }

  /// Where the generators were made that have begun and have neither ended nor been dropped.
  package var generators: [SourceSite] {
    Self.lock.withLock { Array(liveGenerators.values) }
  }

  // MARK: - What the library tells

  /// A coroutine is about to be put in line.
  static func launches(
    _ coroutine: Coroutine,
    by caller: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    let id = coroutine.id
    let isCounted = lock.withLock {
      guard let census = office.members[Party(caller, thread)] else { return false }
      office.members[.coroutine(id)] = census
      census.liveCoroutines[id] = coroutine
      return true
    }
    if isCounted { coroutine.requiredExtras.finishHooks.append { Self.ended(id) } }
  }

  /// It has ended, or has not been launched after all.
  static func ended(_ id: UInt64) {
    let coroutine = lock.withLock {
      office.members.removeValue(forKey: .coroutine(id))?.liveCoroutines.removeValue(forKey: id)
    }
    // Released after the lock.
    withExtendedLifetime(coroutine) {}
  }

  /// A generator has got its stack.
  static func begins(_ generator: GeneratorState, _ thread: ThreadRecord) {
    let id = ObjectIdentifier(generator)
    lock.withLock {
      guard let census = office.members[Party(thread.runningFiber, thread)] else { return }
      office.generators[id] = census
      census.liveGenerators[id] = generator.creationSite
    }
  }

  /// A generator has given its stack back.
  static func ends(_ generator: GeneratorState) {
    let id = ObjectIdentifier(generator)
    lock.withLock {
      _ = office.generators.removeValue(forKey: id)?.liveGenerators.removeValue(forKey: id)
    }
  }
}
