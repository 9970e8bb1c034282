// SPDX-License-Identifier: Apache-2.0

/// A point in a scheduler's time at which something is to be done.
///
/// Lives where its maker put it, and is disarmed before it goes away.
package struct KernelTimer {
  /// When, in nanoseconds of the scheduler's clock.
  package var deadline: Int64
  /// Position in the heap, or -1 when not armed.
  package var position: Int
  /// Tells timers with equal deadlines apart: first armed, first fired.
  package var order: UInt64
  /// What to do.
  ///
  /// Runs with the home's turn, on the loop's own stack; must not park.
  package var fire: (UnsafeMutablePointer<KernelTimer>) -> Void
  /// For `fire`.
  package var context: UnsafeMutableRawPointer?

  /// A timer that is not armed.
  package init(
    deadline: Int64,
    context: UnsafeMutableRawPointer?,
    fire: @escaping (UnsafeMutablePointer<KernelTimer>) -> Void
  ) {
    self.deadline = deadline
    self.position = -1
    self.order = 0
    self.fire = fire
    self.context = context
  }
}

/// Armed timers, nearest first: a four-way heap, whose nodes know their places, so that disarming
/// costs as much as arming, O(log n).
///
/// Invariant: `heap[i].position == i`, and no node is nearer than its parent.
package struct TimerHeap {
  private var heap: [UnsafeMutablePointer<KernelTimer>] = []
  private var nextOrder: UInt64 = 0

  /// No timers.
  package init() {}

  /// No timer is armed.
  package var isEmpty: Bool { heap.isEmpty }

  /// Number of armed timers.
  package var count: Int { heap.count }

  /// The nearest deadline.
  package var nearest: Int64? { heap.first?.pointee.deadline }

  /// Arms a timer.
  package mutating func arm(_ timer: UnsafeMutablePointer<KernelTimer>) {
    precondition(timer.pointee.position < 0, "a timer is armed once at a time")
    timer.pointee.order = nextOrder
    nextOrder += 1
    heap.append(timer)
    rise(from: heap.count - 1)
  }

  /// Disarms a timer; no effect if it has fired or was never armed.
  package mutating func disarm(_ timer: UnsafeMutablePointer<KernelTimer>) {
    let position = timer.pointee.position
    guard position >= 0 else { return }
    timer.pointee.position = -1
    let last = heap.removeLast()
    guard last != timer else { return }
    place(last, at: position)
    if position > 0, precedes(last, heap[(position - 1) / 4]) {
      rise(from: position)
    } else {
      sink(from: position)
    }
  }

  /// Disarms and returns the first timer that is due.
  package mutating func popDue(at now: Int64) -> UnsafeMutablePointer<KernelTimer>? {
    guard let first = heap.first, first.pointee.deadline <= now else { return nil }
    disarm(first)
    return first
  }

  private func precedes(
    _ one: UnsafeMutablePointer<KernelTimer>,
    _ other: UnsafeMutablePointer<KernelTimer>
  ) -> Bool {
    one.pointee.deadline != other.pointee.deadline
      ? one.pointee.deadline < other.pointee.deadline : one.pointee.order < other.pointee.order
  }

  private mutating func place(_ timer: UnsafeMutablePointer<KernelTimer>, at position: Int) {
    heap[position] = timer
    timer.pointee.position = position
  }

  private mutating func rise(from start: Int) {
    var position = start
    let timer = heap[start]
    while position > 0 {
      let parent = (position - 1) / 4
      guard precedes(timer, heap[parent]) else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(timer, at: position)
  }

  private mutating func sink(from start: Int) {
    var position = start
    let timer = heap[start]
    while true {
      var best = -1
      for child in (4 * position + 1)..<(4 * position + 5) {
        guard child < heap.count else { break }
        if best < 0 || precedes(heap[child], heap[best]) { best = child }
      }
      guard best >= 0, precedes(heap[best], timer) else { break }
      place(heap[best], at: position)
      position = best
    }
    place(timer, at: position)
  }
}
