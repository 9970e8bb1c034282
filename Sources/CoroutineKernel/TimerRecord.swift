// SPDX-License-Identifier: Apache-2.0

/// What a wheel knows of one armed timer.
///
/// Timers lie in the frames of those who wait, each on a page of its own. What is moved and compared
/// is here, two to a cache line, so that a timer's page is touched when it is armed, and then when it
/// fires.
struct TimerRecord {
  /// No record; also the end of a list.
  static let none = UInt32.max
  /// In `previous`: the record is in the heap, and `next` is its place there.
  static let inHeap = UInt32.max - 1
  /// In `previous`: the record is the first of the slot whose number the other bits are.
  static let first: UInt32 = 1 << 31

  /// The timer's, copied.
  let deadline: Int64
  /// Tells timers with equal deadlines apart: first armed, first fired.
  let order: UInt64
  let timer: UnsafeMutablePointer<KernelTimer>
  /// The next in the slot's list, or in the list of free records.
  var next: UInt32
  /// The one before in the slot's list.
  var previous: UInt32
}

/// Memory for records: one block, addressed by number, that grows by doubling.
struct TimerRecords: ~Copyable {
  private static let leastCapacity = 16
  /// A block of more records than this is given back when the last one is free.
  private static let idleCapacity = 1024

  // SAFETY: `capacity` records, of which the first `touched` have been in use and are initialized.
  // Records are trivial, so they are neither destroyed nor moved one by one.
  private(set) var base: UnsafeMutablePointer<TimerRecord>
  private var capacity = 0
  private var touched = 0
  private var firstFree = TimerRecord.none
  /// Number of records in use.
  private(set) var count = 0

  init() { base = .allocate(capacity: 0) }

  deinit { base.deallocate() }

  /// Makes a record; it is in no list.
  @inline(__always)
  mutating func make(
    _ timer: UnsafeMutablePointer<KernelTimer>,
    order: UInt64
  ) -> UInt32 {
    let number: UInt32
    if firstFree != TimerRecord.none {
      number = firstFree
      firstFree = base[Int(number)].next
    } else {
      if touched == capacity { grow() }
      number = UInt32(truncatingIfNeeded: touched)
      touched += 1
    }
    count += 1
    (base + Int(number)).initialize(
      to: TimerRecord(
        deadline: timer.pointee.deadline,
        order: order,
        timer: timer,
        next: TimerRecord.none,
        previous: TimerRecord.none
      )
    )
    return number
  }

  /// Frees a record that is in no list.
  @inline(__always)
  mutating func free(_ number: UInt32) {
    base[Int(number)].next = firstFree
    firstFree = number
    count -= 1
    if count == 0 { forget() }
  }

  /// Begins at the front again: records that are made one after another then lie side by side.
  private mutating func forget() {
    firstFree = TimerRecord.none
    touched = 0
    guard capacity > Self.idleCapacity else { return }
    base.deallocate()
    base = .allocate(capacity: 0)
    capacity = 0
  }

  @inline(never)
  private mutating func grow() {
    precondition(capacity < Int(TimerRecord.first), "too many timers")
    let grown = max(Self.leastCapacity, capacity * 2)
    let block = UnsafeMutablePointer<TimerRecord>.allocate(capacity: grown)
    block.moveInitialize(from: base, count: touched)
    base.deallocate()
    base = block
    capacity = grown
  }
}
