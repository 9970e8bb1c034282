// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel
import Synchronization

/// Waits for descriptors on behalf of a home's coroutines, and wakes them.
///
/// An event loop has its own and sleeps in it. All other schedulers share one, which has a thread.
///
/// A descriptor that the library has opened is watched for good, by each loop on which somebody waited for it:
/// then a wait costs no call of the system but the one that the loop sleeps in. One that others may close at
/// any time is watched for each wait anew.
///
/// A poller may hold the open file of what it watches (`holdsFiles`). Then the entry of the descriptor knows the
/// reactor, and whoever closes it has all of them let go before; what is watched for one wait is let go when the
/// wait ends.
package final class Reactor: @unchecked Sendable {
  // SAFETY: `watched` and `events` are touched by the owner only: the home's thread, or nobody but the thread
  // for the shared one, which has no `watched`. The poller takes care of itself: anybody may have it let go.

  package let poller: OpaquePointer
  /// What it watches stays open until it lets go of it, and is watched for one thread, which must say that it
  /// is the owner.
  package let holdsFiles: Bool
  /// Four times its number, which no other reactor has had; 0 if what it watches may end before the descriptor does.
  package let watcher: UInt64
  private static let made = Atomic<UInt64>(0)
  /// Several threads have it watch.
  private let isShared: Bool
  private let events: UnsafeMutablePointer<cck_poller_event_t>
  /// Events of one call.
  ///
  /// Those who are woken run before the next: what has been touched for them is still in the processor's nearest
  /// memory then.
  private static let capacity = 64
  /// What each descriptor is watched for, and as which generation: generation · 4 + interest.
  // SAFETY: as above; no method calls another one, or code of others, during an access.
  @exclusivity(unchecked)
  private var watched: [UInt64] = []

  private init(poller: OpaquePointer, isShared: Bool) {
    self.poller = poller
    self.isShared = isShared
    holdsFiles = cck_poller_kind_holds_files(cck_poller_kind(poller)) != 0
    watcher = holdsFiles ? 0 : Self.made.add(4, ordering: .relaxed).newValue
    events = .allocate(capacity: Self.capacity)
  }

  deinit {
    events.deallocate()
    cck_poller_free(poller)
  }

  /// Makes one; for a loop's own thread, or for all others.
  ///
  /// - Throws: The system's reason.
  package static func make(forLoop isLoop: Bool) throws(DescriptorFailure) -> Reactor {
    var poller: OpaquePointer?
    let code = cck_poller_make(&poller, isLoop ? 1 : 0)
    guard let poller else { throw DescriptorFailure(code: code) }
    return Reactor(poller: poller, isShared: !isLoop)
  }

  /// How it learns of descriptors.
  package var kind: cck_poller_kind_t { cck_poller_kind(poller) }

  /// Waits until something is ready, or somebody rings, and wakes those who wait for it; with the turn.
  ///
  /// - Parameter timeout: At most so many nanoseconds; for ever, if negative.
  package func poll(atMost timeout: Int64) {
    let count = Int(cck_poller_wait(poller, events, Int32(Self.capacity), timeout))
    // With thousands of connections none of it is near: all of it at once, instead of one after the other.
    if count > 1 { for index in 0..<count { DescriptorTable.expect(events[index]) } }
    for index in 0..<count {
      if events[index].ready & UInt32(CCK_POLL_ENDED) != 0 { noteEnd(events[index].token) }
      DescriptorTable.signal(events[index])
    }
  }

  /// The poller has ended a watch: the next wait begins another.
  private func noteEnd(_ token: UInt64) {
    let token = DescriptorToken(rawValue: token)
    let index = Int(token.descriptor)
    guard !token.isOnce, index < watched.count else { return }
    if watched[index] >> 2 == UInt64(token.generation) { watched[index] = 0 }
  }

  /// The calling thread, whose loop this is, is the owner from now on.
  @inline(__always)
  func begin() {
    if holdsFiles, cck_poller_begin(poller) != 0 { watched.removeAll(keepingCapacity: true) }
  }

  // MARK: - Watching

  /// Watches a descriptor of the library's own from now on; the caller is the owner.
  ///
  /// - Throws: `DescriptorFailure` if the system refuses.
  package func watch(
    _ descriptor: Int32,
    _ direction: DescriptorDirection,
    generation: UInt32
  ) throws(DescriptorFailure) {
    let index = Int(descriptor)
    if index >= watched.count {
      watched += repeatElement(0, count: max(64, index * 2) - watched.count)
    }
    // What another descriptor with this number is watched for does not count.
    let known = watched[index] >> 2 == UInt64(generation) ? watched[index] & 3 : 0
    let wanted = known | UInt64(direction.interest)
    if wanted != known {
      guard try arm(descriptor, UInt32(wanted), generation, isOnce: false) else { return }
      watched[index] = UInt64(generation) << 2 | wanted
    }
    guard watcher != 0, let entry = DescriptorTable.entry(descriptor) else { return }
    entry.lock.withLock {
      if entry.pointee.generation == generation { entry.pointee.watched = watcher | wanted }
    }
  }

  /// Watches a descriptor of the library's own, and has an event come if it is ready now.
  package func rewatch(
    _ descriptor: Int32,
    _ interest: UInt32,
    generation: UInt32
  ) throws(DescriptorFailure) {
    _ = try arm(descriptor, interest, generation, isOnce: false)
  }

  /// Watches a descriptor that others may close, until it is ready once.
  package func watchOnce(
    _ descriptor: Int32,
    _ interest: UInt32,
    generation: UInt32
  ) throws(DescriptorFailure) {
    _ = try arm(descriptor, interest, generation, isOnce: true)
  }

  /// Does nothing, and returns false, if the number stands for something else by now: somebody may wait here
  /// for that.
  private func arm(
    _ descriptor: Int32,
    _ interest: UInt32,
    _ generation: UInt32,
    isOnce: Bool
  ) throws(DescriptorFailure) -> Bool {
    guard let entry = DescriptorTable.entry(descriptor) else { return false }
    let mode = entry.lock.acquire(currentThread())
    guard entry.pointee.generation == generation else {
      entry.lock.release(mode)
      return false
    }
    if holdsFiles { entry.note(holder: self) }
    // Where several threads are here, one that is held up between its look and the call would put its watch in the
    // place of one for what the number stands for by then, of which nobody would hear again. Whoever retires the number
    // waits for the lock, and nobody gets the number before.
    if !isShared { entry.lock.release(mode) }
    let token = DescriptorToken(descriptor, generation: generation, isOnce: isOnce)
    let code =
      isOnce
      ? cck_poller_watch_once(poller, descriptor, interest, token.rawValue)
      : cck_poller_watch(poller, descriptor, interest, token.rawValue)
    if isShared { entry.lock.release(mode) }
    if code != 0 { throw DescriptorFailure(code: code) }
    // Whoever retired it meanwhile may have been too early to see the watch.
    if holdsFiles, entry.lock.withLock({ entry.pointee.generation != generation }) {
      forget(descriptor)
      return false
    }
    return true
  }

  /// Lets go of a descriptor; the caller is the owner.
  package func forget(_ descriptor: Int32) {
    if Int(descriptor) < watched.count { watched[Int(descriptor)] = 0 }
    letGo(descriptor)
  }

  /// Has the poller forget a descriptor that is about to be closed; anybody may.
  func letGo(_ descriptor: Int32) { cck_poller_unwatch(poller, descriptor) }

  // MARK: - For schedulers without a thread

  private static let shared = SharedReactor()

  /// The one of all schedulers that cannot sleep in one.
  package static func forOthers() throws(DescriptorFailure) -> Reactor { try shared.get() }

  private final class SharedReactor: @unchecked Sendable {
    // SAFETY: guarded by the lock.
    private let lock = AllocatedLock()
    private var reactor: Reactor?

    func get() throws(DescriptorFailure) -> Reactor {
      try lock.withLock { () throws(DescriptorFailure) in
        if let reactor { return reactor }
        let made = try Reactor.make(forLoop: false)
        let isRunning = startKernelThread(named: "reactor") { while true { made.poll(atMost: -1) } }
        if !isRunning { throw .noThread }
        reactor = made
        return made
      }
    }
  }
}
