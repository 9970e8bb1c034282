// SPDX-License-Identifier: Apache-2.0

/// Records of timers, nearest first: a four-way heap, whose members know their places.
///
/// Invariant: the record of `items[i]` has `next == i`, and no item is nearer than its parent.
///
/// The four children of an item are one cache line, and their deadlines decide except in ties.
struct TimerHeap {
  private struct Item {
    var deadline: Int64
    var record: UInt32
  }

  private var items: [Item] = []

  var count: Int { items.count }

  /// The nearest deadline.
  var nearest: Int64? { items.first?.deadline }

  /// The record with the nearest deadline.
  var first: UInt32? { items.first?.record }

  /// All records, in no order.
  var all: some Sequence<UInt32> { items.lazy.map(\.record) }

  /// Adds a record.
  mutating func add(_ record: UInt32, in records: UnsafeMutablePointer<TimerRecord>) {
    records[Int(record)].previous = TimerRecord.inHeap
    let item = Item(deadline: records[Int(record)].deadline, record: record)
    items.append(item)
    rise(item, from: items.count - 1, records)
  }

  /// Takes a record out.
  mutating func remove(_ record: UInt32, in records: UnsafeMutablePointer<TimerRecord>) {
    let position = Int(records[Int(record)].next)
    let last = items.removeLast()
    guard last.record != record else { return }
    if position > 0, precedes(last, items[(position - 1) / 4], records) {
      rise(last, from: position, records)
    } else {
      sink(last, from: position, records)
    }
  }

  @inline(__always)
  private func precedes(
    _ one: Item,
    _ other: Item,
    _ records: UnsafeMutablePointer<TimerRecord>
  ) -> Bool {
    one.deadline != other.deadline
      ? one.deadline < other.deadline
      : records[Int(one.record)].order < records[Int(other.record)].order
  }

  @inline(__always)
  private mutating func place(
    _ item: Item,
    at position: Int,
    _ records: UnsafeMutablePointer<TimerRecord>
  ) {
    items[position] = item
    records[Int(item.record)].next = UInt32(truncatingIfNeeded: position)
  }

  private mutating func rise(
    _ item: Item,
    from start: Int,
    _ records: UnsafeMutablePointer<TimerRecord>
  ) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 4
      guard precedes(item, items[parent], records) else { break }
      place(items[parent], at: position, records)
      position = parent
    }
    place(item, at: position, records)
  }

  private mutating func sink(
    _ item: Item,
    from start: Int,
    _ records: UnsafeMutablePointer<TimerRecord>
  ) {
    var position = start
    while true {
      let firstChild = 4 * position + 1
      guard firstChild < items.count else { break }
      var best = firstChild
      for child in (firstChild + 1)..<max(firstChild + 1, min(firstChild + 4, items.count))
      where precedes(items[child], items[best], records) {
        best = child
      }
      guard precedes(items[best], item, records) else { break }
      place(items[best], at: position, records)
      position = best
    }
    place(item, at: position, records)
  }
}
