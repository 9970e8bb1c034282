// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Testing

@Suite struct TimerHeapTests {
  private typealias Timer = UnsafeMutablePointer<KernelTimer>

  private func makeTimer(_ deadline: Int64) -> Timer {
    let timer = Timer.allocate(capacity: 1)
    timer.initialize(to: KernelTimer(deadline: deadline, context: nil) { _ in })
    return timer
  }

  private func free(_ timers: [Timer]) {
    for timer in timers {
      timer.deinitialize(count: 1)
      timer.deallocate()
    }
  }

  @Test func `an empty heap has nothing due`() {
    var heap = TimerHeap()
    #expect(heap.isEmpty)
    #expect(heap.nearest == nil)
    #expect(heap.popDue(at: .max) == nil)
  }

  @Test func `a timer is due at its deadline and not before`() {
    var heap = TimerHeap()
    let timer = makeTimer(10)
    defer { free([timer]) }
    heap.arm(timer)
    #expect(heap.nearest == 10)
    #expect(heap.popDue(at: 9) == nil)
    #expect(heap.popDue(at: 10) == timer)
    #expect(heap.isEmpty)
    #expect(timer.pointee.position == -1)
  }

  @Test func `equal deadlines are due in the order of arming`() {
    var heap = TimerHeap()
    let timers = (0..<100).map { _ in makeTimer(5) }
    defer { free(timers) }
    for timer in timers { heap.arm(timer) }
    let popped = timers.indices.map { _ in heap.popDue(at: 5) }
    #expect(popped == timers)
  }

  @Test func `disarming what is not armed changes nothing`() {
    var heap = TimerHeap()
    let armed = makeTimer(1)
    let idle = makeTimer(2)
    defer { free([armed, idle]) }
    heap.arm(armed)
    heap.disarm(idle)
    #expect(heap.count == 1)
    heap.disarm(armed)
    heap.disarm(armed)
    #expect(heap.isEmpty)
  }

  @Test func `a timer can be armed again after it was due`() {
    var heap = TimerHeap()
    let timer = makeTimer(1)
    defer { free([timer]) }
    heap.arm(timer)
    #expect(heap.popDue(at: 1) == timer)
    timer.pointee.deadline = 3
    heap.arm(timer)
    #expect(heap.popDue(at: 2) == nil)
    #expect(heap.popDue(at: 3) == timer)
  }

  @Test func `arming twice stops the process`() async {
    await #expect(processExitsWith: .failure) {
      var heap = TimerHeap()
      let timer = UnsafeMutablePointer<KernelTimer>.allocate(capacity: 1)
      timer.initialize(to: KernelTimer(deadline: 1, context: nil) { _ in })
      heap.arm(timer)
      heap.arm(timer)
    }
  }

  /// What a heap must do, done slowly: the armed timers in the order of deadline, then of arming.
  private struct Model {
    var armed: [(deadline: Int64, order: Int, timer: Timer)] = []
    var nextOrder = 0

    mutating func arm(_ timer: Timer) {
      armed.append((timer.pointee.deadline, nextOrder, timer))
      nextOrder += 1
      armed.sort { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
    }

    mutating func disarm(_ timer: Timer) {
      armed.removeAll { $0.timer == timer }
    }

    mutating func popDue(at now: Int64) -> Timer? {
      guard let first = armed.first, first.deadline <= now else { return nil }
      return armed.removeFirst().timer
    }
  }

  @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34] as [UInt64])
  func `random arming and disarming agrees with a sorted array`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let timers = (0..<150).map { _ in makeTimer(0) }
    defer { free(timers) }
    var heap = TimerHeap()
    var model = Model()
    var disagreements = 0
    for step in 0..<6_000 {
      let timer = timers[Int.random(in: 0..<timers.count, using: &random)]
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        guard timer.pointee.position < 0 else { continue }
        // Few deadlines, so that many are equal.
        timer.pointee.deadline = Int64(step / 10) + Int64.random(in: 0..<40, using: &random)
        heap.arm(timer)
        model.arm(timer)
      case 5..<8:
        heap.disarm(timer)
        model.disarm(timer)
      default:
        let now = Int64(step / 10)
        if heap.popDue(at: now) != model.popDue(at: now) { disagreements += 1 }
      }
      if heap.nearest != model.armed.first?.deadline || heap.count != model.armed.count {
        disagreements += 1
      }
    }
    #expect(disagreements == 0, "seed \(seed)")
    while let expected = model.popDue(at: .max) {
      #expect(heap.popDue(at: .max) == expected, "seed \(seed)")
    }
    #expect(heap.isEmpty)
  }
}
