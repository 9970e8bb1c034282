// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization

/// The entries of all descriptor numbers.
package enum DescriptorTable {
  private static let entriesPerChunk = 1024
  private static let chunks = Int(CCK_DESCRIPTOR_CHUNKS)

  /// A slot of the directory; a chunk's address is put in once, with its entries initialized.
  @inline(__always)
  private static func slot(_ chunk: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    // SAFETY: callers stay inside the directory, whose slots are as wide and as aligned as an atomic word, and are
    // touched as such only.
    UnsafeMutableRawPointer(cck_descriptor_directory() + chunk)
      .assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// The entry of a number.
  ///
  /// - Returns: Nil for numbers that no system gives: below 0, or from four million on.
  package static func entry(_ descriptor: Int32) -> UnsafeMutablePointer<DescriptorEntry>? {
    let (chunk, index) = Int(descriptor).quotientAndRemainder(dividingBy: entriesPerChunk)
    guard descriptor >= 0, chunk < chunks else { return nil }
    let slot = slot(chunk)
    let known = slot.pointee.load(ordering: .acquiring)
    let base =
      UnsafeMutablePointer<DescriptorEntry>(bitPattern: known) ?? makeChunk(for: slot)
    return base + index
  }

  /// The number, and the direction, that a queue is of.
  ///
  /// - Returns: Nil if it is not a descriptor's. Takes time in proportion to the highest number.
  package static func whose(
    _ queue: UnsafeMutablePointer<WaitQueue>
  ) -> (number: Int32, direction: DescriptorDirection)? {
    for chunk in 0..<chunks {
      let base = slot(chunk).pointee.load(ordering: .acquiring)
      guard base != 0, UInt(bitPattern: queue) >= base else { continue }
      let index = Int(UInt(bitPattern: queue) - base) / MemoryLayout<DescriptorEntry>.stride
      guard index < entriesPerChunk else { continue }
      let number = Int32(chunk * entriesPerChunk + index)
      return entry(number).map { (number, $0.queue(.reading) == queue ? .reading : .writing) }
    }
    return nil
  }

  private static func makeChunk(
    for slot: UnsafeMutablePointer<Atomic<UInt>>
  ) -> UnsafeMutablePointer<DescriptorEntry> {
    let made = UnsafeMutablePointer<DescriptorEntry>.allocate(capacity: entriesPerChunk)
    for index in 0..<entriesPerChunk { (made + index).initialize(to: DescriptorEntry()) }
    let (exchanged, original) = slot.pointee.compareExchange(
      expected: 0,
      desired: UInt(bitPattern: made),
      ordering: .acquiringAndReleasing
    )
    if exchanged { return made }
    (made).deinitialize(count: entriesPerChunk)
    made.deallocate()
    // SAFETY: somebody else's chunk is there, or the exchange would have succeeded.
    return UnsafeMutablePointer(bitPattern: original).unsafelyUnwrapped
  }

  /// The caller has opened the descriptor, and will `retire` it before it closes it.
  ///
  /// - Returns: Its generation; 0 for a number that is out of the range.
  @discardableResult
  package static func adopt(_ descriptor: Int32) -> UInt32 {
    guard let entry = entry(descriptor) else { return 0 }
    return entry.lock.withLock {
      renew(entry, isOwned: true)
      return entry.pointee.generation
    }
  }

  /// The descriptor is about to be closed: who waits for it goes on, and learns that it was closed; who holds it
  /// open lets go.
  package static func retire(_ descriptor: Int32) {
    guard let entry = entry(descriptor) else { return }
    var woken = ResumeList()
    var holders: [Reactor] = []
    entry.lock.withLock {
      renew(entry, isOwned: false)
      // Not by `swap`: to hand on a field for writing counts as writing to all of the entry, its lock included.
      holders = entry.pointee.holders
      entry.pointee.holders = []
      woken.claimAll(of: &entry.queue(.reading).pointee, .closed)
      woken.claimAll(of: &entry.queue(.writing).pointee, .closed)
    }
    for holder in holders { holder.letGo(descriptor) }
    woken.resumeAll()
  }

  private static func renew(_ entry: UnsafeMutablePointer<DescriptorEntry>, isOwned: Bool) {
    entry.pointee.generation = entry.pointee.generation % 0x7fff_ffff + 1
    entry.pointee.isOwned = isOwned
    entry.pointee.hasHungUp.store(false, ordering: .relaxed)
    entry.pointee.watched = 0
  }

  /// Has the processor fetch what `signal` will need for an event.
  @inline(__always)
  static func expect(_ event: cck_poller_event_t) {
    let token = DescriptorToken(rawValue: event.token)
    if let entry = entry(token.descriptor) { cck_prefetch(entry, 2) }
  }

  /// A descriptor has become ready.
  static func signal(_ event: cck_poller_event_t) {
    let token = DescriptorToken(rawValue: event.token)
    guard let entry = entry(token.descriptor) else { return }
    // A watch that is over was for both directions: whoever waits for the other must watch again.
    let isOver = token.isOnce || event.ready & UInt32(CCK_POLL_ENDED) != 0
    let ready = isOver ? event.ready | UInt32(CCK_POLL_READ | CCK_POLL_WRITE) : event.ready
    entry.signal(ready, generation: token.generation)
  }
}
