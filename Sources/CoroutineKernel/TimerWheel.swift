// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// A tick is 2¹⁷ ns, 131 µs.
private let bitsPerTick = 17
/// A level has 64 slots: as many as a word has bits.
private let bitsPerLevel = 6
/// With 17 + 8 · 6 bits the last level holds every deadline that there is.
private let levels = 8
/// So many timers need no wheel.
private let fewest = 16

/// Armed timers: a hierarchical wheel in front of a heap.
///
/// To arm and to disarm takes the same time for ten timers and for a million, and still they fire in the
/// exact order of their deadlines.
///
/// The wheel sorts timers coarsely by their ticks, in lists: a slot of level 0 is one tick wide, one of
/// level *n* is 64ⁿ. What a level holds is in the same slot of the next level as the *horizon*, which
/// follows the clock. When it reaches a slot, the slot's timers go on to narrower slots, and from the
/// narrowest, or if there are few, to the heap, which sorts exactly. So the heap holds what is due within
/// a tick, and few others. (Varghese, Lauck: Hashed and hierarchical timing wheels, 1987, scheme 7. Theirs
/// fires a slot's timers in any order.)
///
/// ```
///                  horizon
///                     ▼
///   level 0   . . . . . 6 7 8 … 63              131 µs each
///   level 1   . . . . . . . 8 9 … 63            8.4 ms each
///   level 2   . 2 3 4 … 63                      0.54 s each      … level 7   18 years each
///      │
///      └──▶ when the horizon enters a slot: to narrower slots or to the heap ──▶ fired, in order
/// ```
///
/// Invariants:
/// - T1. A timer in the wheel has a later tick than the horizon, and is in level *n* if the highest digit
///   (base 64) in which the two ticks differ is the *n*-th: slot and horizon agree in all digits above.
///   So what is in a level is nearer than all that is in the levels above it, the slots of a level are in
///   the order of time, and each is later than the horizon's own.
/// - T2. A timer of the current tick or an earlier one is in the heap; any other may be.
/// - T3. `minima[s]` is no later than any deadline in slot `s`, and lies in the slot. It is exact unless a
///   timer has been disarmed since the slot was last empty.
/// - T4. A bit of `occupied[n]` is set if the slot's list has a member, and a bit of `occupiedLevels` if any
///   bit of the level is.
///
/// A timer moves at most once a level, so its whole life takes constant time, and the logarithm of the
/// number of those that are due in the same tick.
package struct TimerWheel: ~Copyable {
  private var records = TimerRecords()
  private var heap = TimerHeap()
  /// The tick that the wheel has come to; never goes back.
  private var horizon: Int64 = 0
  private var occupiedLevels: UInt = 0
  // SAFETY: `occupied` has an element for each level, `heads` and `minima` one for each slot; allocated
  // together, when a timer first needs a slot.
  private var occupied: UnsafeMutablePointer<UInt64>?
  private var minima: UnsafeMutablePointer<Int64>?
  private var heads: UnsafeMutablePointer<UInt32>?
  private var nextOrder: UInt64 = 0

  /// No timers.
  package init() {}

  deinit {
    occupied?.deallocate()
    minima?.deallocate()
    heads?.deallocate()
  }

  /// No timer is armed.
  package var isEmpty: Bool { records.count == 0 }

  /// Forgets how late it is, for a clock that may show an earlier time: virtual time ends with its scheduler.
  ///
  /// Only without timers; with a horizon in the future, new ones would all be in the heap (T2).
  package mutating func beginAnew() {
    if isEmpty { horizon = 0 }
  }

  /// Number of armed timers.
  package var count: Int { records.count }

  /// A time before which no timer is due, which is when to look again; nil if none is armed.
  ///
  /// The nearest deadline, or (T3) earlier, if timers have been disarmed. Then a call of `popDue` at that
  /// time finds nothing, and moves on those that this was about.
  package var nextLook: Int64? {
    guard let slot = nearestSlot else { return heap.nearest }
    // SAFETY: there is a slot, so there is memory for slots.
    return min(minima.unsafelyUnwrapped[slot], heap.nearest ?? .max)
  }

  /// The nearest deadline.
  ///
  /// Takes as long as the timers of one slot are many, so it is for virtual time, which goes there next.
  package var nearest: Int64? {
    guard let slot = nearestSlot else { return heap.nearest }
    var least = heap.nearest ?? .max
    // SAFETY: as above.
    var record = heads.unsafelyUnwrapped[slot]
    while record != TimerRecord.none {
      least = min(least, records.base[Int(record)].deadline)
      record = records.base[Int(record)].next
    }
    return least
  }

  /// Arms a timer.
  package mutating func arm(_ timer: UnsafeMutablePointer<KernelTimer>) {
    precondition(!timer.pointee.isArmed, "a timer is armed once at a time")
    let record = records.make(timer, order: nextOrder)
    nextOrder &+= 1
    timer.pointee.record = record
    place(record)
  }

  /// Disarms a timer; no effect if it has fired or was never armed.
  package mutating func disarm(_ timer: UnsafeMutablePointer<KernelTimer>) {
    let record = timer.pointee.record
    guard record != TimerRecord.none else { return }
    timer.pointee.record = TimerRecord.none
    if records.base[Int(record)].previous == TimerRecord.inHeap {
      heap.remove(record, in: records.base)
    } else {
      unlink(record)
    }
    records.free(record)
  }

  /// Disarms and returns the first timer that is due.
  ///
  /// After the horizon has been set to the tick of `now`, the wheel holds what is due later (T1). So the
  /// first of the heap is the first of all, if it is due.
  package mutating func popDue(at now: Int64) -> UnsafeMutablePointer<KernelTimer>? {
    let tick = now >> bitsPerTick
    if tick > horizon { advance(to: tick) }
    guard let first = heap.first, let deadline = heap.nearest, deadline <= now else { return nil }
    let timer = records.base[Int(first)].timer
    heap.remove(first, in: records.base)
    records.free(first)
    timer.pointee.record = TimerRecord.none
    return timer
  }

  /// Calls `body` with each armed timer, in no order: for dumps.
  package func forEach(_ body: (UnsafeMutablePointer<KernelTimer>) -> Void) {
    for record in heap.all { body(records.base[Int(record)].timer) }
    guard let heads else { return }
    for slot in 0..<levels << bitsPerLevel {
      var record = heads[slot]
      while record != TimerRecord.none {
        body(records.base[Int(record)].timer)
        record = records.base[Int(record)].next
      }
    }
  }

  // MARK: - The wheel

  /// The first slot that has timers, which are nearer than all others in the wheel (T1).
  @inline(__always)
  private var nearestSlot: Int? {
    guard occupiedLevels != 0 else { return nil }
    let level = occupiedLevels.trailingZeroBitCount
    // SAFETY: a level is occupied, so there is memory for slots.
    return level << bitsPerLevel + occupied.unsafelyUnwrapped[level].trailingZeroBitCount
  }

  /// The first tick of a slot.
  @inline(__always)
  private func start(of slot: Int) -> Int64 {
    let shift = (slot >> bitsPerLevel) * bitsPerLevel
    let above = (horizon >> (shift + bitsPerLevel)) << (shift + bitsPerLevel)
    return above | Int64(slot & 63) << shift
  }

  /// Sets the horizon, and moves on the timers of the slots that it reaches on the way.
  ///
  /// T1: a slot that begins later than the new horizon agrees with it in all digits above its level. For
  /// where the new horizon differs from the old one in such a digit, it is past all slots of the level.
  private mutating func advance(to tick: Int64) {
    while let slot = nearestSlot {
      let start = start(of: slot)
      guard start <= tick else { break }
      // Slots before this one are empty, so T1 holds for this horizon as soon as this one is.
      horizon = start
      // SAFETY: as in `nextLook`.
      var record = heads.unsafelyUnwrapped[slot]
      heads.unsafelyUnwrapped[slot] = TimerRecord.none
      markEmpty(slot)
      while record != TimerRecord.none {
        let next = records.base[Int(record)].next
        if next != TimerRecord.none { cck_prefetch(records.base + Int(next), 1) }
        // What fires soon is far away from all caches.
        if place(record) { cck_prefetch(records.base[Int(record)].timer, 3) }
        record = next
      }
    }
    horizon = tick
  }

  /// Puts a record where T1 and T2 want it.
  ///
  /// - Returns: In the heap.
  @inline(__always) @discardableResult
  private mutating func place(_ record: UInt32) -> Bool {
    let tick = records.base[Int(record)].deadline >> bitsPerTick
    if tick <= horizon || heap.count < fewest {
      heap.add(record, in: records.base)
      return true
    }
    link(record, tick)
    return false
  }

  /// Puts a record first in its slot.
  private mutating func link(_ record: UInt32, _ tick: Int64) {
    if heads == nil { makeSlots() }
    // SAFETY: made above. `horizon` is not negative and `tick` is later, so neither has more digits than
    // there are levels.
    let (heads, minima) = (heads.unsafelyUnwrapped, minima.unsafelyUnwrapped)
    let occupied = occupied.unsafelyUnwrapped
    let base = records.base
    let level = (63 - (tick ^ horizon).leadingZeroBitCount) / bitsPerLevel
    let digit = Int(truncatingIfNeeded: tick >> (level * bitsPerLevel)) & 63
    let slot = level << bitsPerLevel + digit
    let deadline = base[Int(record)].deadline
    let head = heads[slot]
    base[Int(record)].next = head
    base[Int(record)].previous = TimerRecord.first | UInt32(truncatingIfNeeded: slot)
    if head != TimerRecord.none {
      base[Int(head)].previous = record
      if deadline < minima[slot] { minima[slot] = deadline }
    } else {
      minima[slot] = deadline
      occupied[level] |= 1 << UInt64(digit)
      occupiedLevels |= 1 << UInt(level)
    }
    heads[slot] = record
  }

  /// Takes a record out of its slot.
  private mutating func unlink(_ record: UInt32) {
    let base = records.base
    let next = base[Int(record)].next
    let previous = base[Int(record)].previous
    if next != TimerRecord.none { base[Int(next)].previous = previous }
    if previous & TimerRecord.first == 0 {
      base[Int(previous)].next = next
    } else {
      let slot = Int(previous & ~TimerRecord.first)
      // SAFETY: a record in a slot means that there is memory for slots.
      heads.unsafelyUnwrapped[slot] = next
      if next == TimerRecord.none { markEmpty(slot) }
    }
  }

  /// T4, for a slot whose list has become empty.
  private mutating func markEmpty(_ slot: Int) {
    // SAFETY: as in `unlink`.
    let occupied = occupied.unsafelyUnwrapped
    let level = slot >> bitsPerLevel
    occupied[level] &= ~(1 << UInt64(slot & 63))
    if occupied[level] == 0 { occupiedLevels &= ~(1 << UInt(level)) }
  }

  @inline(never)
  private mutating func makeSlots() {
    let slots = levels << bitsPerLevel
    let (bits, deadlines, firsts) = (
      UnsafeMutablePointer<UInt64>.allocate(capacity: levels),
      UnsafeMutablePointer<Int64>.allocate(capacity: slots),
      UnsafeMutablePointer<UInt32>.allocate(capacity: slots)
    )
    bits.initialize(repeating: 0, count: levels)
    deadlines.initialize(repeating: .max, count: slots)
    firsts.initialize(repeating: TimerRecord.none, count: slots)
    (occupied, minima, heads) = (bits, deadlines, firsts)
  }
}
