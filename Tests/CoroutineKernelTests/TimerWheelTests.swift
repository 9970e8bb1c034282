// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CoroutineKernel

private typealias Timer = UnsafeMutablePointer<KernelTimer>

/// A wheel that expectations can look at, which they cannot if a value is not copyable.
private final class Wheel {
  private var wheel = TimerWheel()

  var isEmpty: Bool { wheel.isEmpty }
  var count: Int { wheel.count }
  var nearest: Int64? { wheel.nearest }
  var nextLook: Int64? { wheel.nextLook }

  func arm(_ timer: Timer) { wheel.arm(timer) }
  func disarm(_ timer: Timer) { wheel.disarm(timer) }
  func popDue(at now: Int64) -> Timer? { wheel.popDue(at: now) }

  /// Takes all that is due.
  func due(at now: Int64) -> [Timer] {
    var timers: [Timer] = []
    while let timer = wheel.popDue(at: now) { timers.append(timer) }
    return timers
  }
}

@Suite struct TimerWheelTests {
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

  @Test func `an empty wheel has nothing due`() {
    let wheel = Wheel()
    #expect(wheel.isEmpty)
    #expect(wheel.nearest == nil)
    #expect(wheel.nextLook == nil)
    #expect(wheel.due(at: .max).isEmpty)
  }

  @Test func `a timer is due at its deadline and not before`() {
    let wheel = Wheel()
    let timer = makeTimer(10)
    defer { free([timer]) }
    wheel.arm(timer)
    #expect(timer.pointee.isArmed)
    #expect(wheel.nearest == 10)
    #expect(wheel.due(at: 9).isEmpty)
    #expect(wheel.due(at: 10) == [timer])
    #expect(wheel.isEmpty)
    #expect(!timer.pointee.isArmed)
  }

  @Test(arguments: [5, 1 << 17, 1 << 40, .max - 1, .max, 0, -1, .min] as [Int64])
  func `equal deadlines are due in the order of arming`(_ deadline: Int64) {
    let wheel = Wheel()
    let timers = (0..<100).map { _ in makeTimer(deadline) }
    defer { free(timers) }
    for timer in timers { wheel.arm(timer) }
    if deadline > .min { #expect(wheel.due(at: deadline - 1).isEmpty) }
    #expect(wheel.due(at: deadline) == timers)
  }

  @Test func `equal deadlines keep their order though some were armed much later`() {
    let wheel = Wheel()
    let deadline: Int64 = 1 << 45
    let timers = (0..<400).map { _ in makeTimer(deadline) }
    defer { free(timers) }
    // From wherever the clock stands, the deadline is in another level.
    for (index, timer) in timers.enumerated() {
      wheel.arm(timer)
      if index % 40 == 39 {
        let now = deadline - (deadline >> (index / 10))
        #expect(wheel.due(at: now).isEmpty)
      }
    }
    #expect(wheel.due(at: deadline) == timers)
  }

  @Test func `disarming what is not armed changes nothing`() {
    let wheel = Wheel()
    let armed = makeTimer(1)
    let idle = makeTimer(2)
    defer { free([armed, idle]) }
    wheel.arm(armed)
    wheel.disarm(idle)
    #expect(wheel.count == 1)
    wheel.disarm(armed)
    wheel.disarm(armed)
    #expect(wheel.isEmpty)
  }

  @Test func `a timer can be armed again after it was due`() {
    let wheel = Wheel()
    let timer = makeTimer(1)
    defer { free([timer]) }
    wheel.arm(timer)
    #expect(wheel.due(at: 1) == [timer])
    timer.pointee.deadline = 3
    wheel.arm(timer)
    #expect(wheel.due(at: 2).isEmpty)
    #expect(wheel.due(at: 3) == [timer])
  }

  @Test func `arming twice stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let wheel = Wheel()
      let timer = UnsafeMutablePointer<KernelTimer>.allocate(capacity: 1)
      timer.initialize(to: KernelTimer(deadline: 1, context: nil) { _ in })
      wheel.arm(timer)
      wheel.arm(timer)
    }
  }

  /// Deadlines on both sides of where the slots of each level begin.
  private static let borders: [Int64] = {
    var borders: [Int64] = [.min, -1, 0, 1, .max - 1, .max]
    for shift in stride(from: 17, to: 63, by: 6) {
      for factor in [1, 2, 63, 64, 65] as [Int64] {
        let (border, overflow) = (Int64(1) << Int64(shift)).multipliedReportingOverflow(by: factor)
        if !overflow { borders += [border - 1, border, border + 1] }
      }
    }
    return borders
  }()

  @Test(arguments: [0, 1 << 17, (1 << 23) - 1, 1 << 29, (1 << 41) + 5, 1 << 62] as [Int64])
  func `a step of the clock over the borders of slots fires what it has passed`(_ start: Int64) {
    let wheel = Wheel()
    #expect(wheel.due(at: start).isEmpty)
    // Three of each, so that there are more than the heap takes at once.
    let timers = (Self.borders + Self.borders + Self.borders).map(makeTimer)
    defer { free(timers) }
    for timer in timers { wheel.arm(timer) }
    let order = timers.indices.sorted {
      (timers[$0].pointee.deadline, $0) < (timers[$1].pointee.deadline, $1)
    }
    var fired: [Timer] = []
    for now in Set(Self.borders).sorted() where now >= start {
      let batch = wheel.due(at: now)
      #expect(batch.allSatisfy { $0.pointee.deadline <= now })
      fired += batch
      #expect(wheel.nearest ?? .max > now || now == .max)
    }
    #expect(fired == order.map { timers[$0] })
    #expect(wheel.isEmpty)
  }

  @Test func `one step of the clock from the beginning to the end fires all in order`() {
    let wheel = Wheel()
    let timers = Self.borders.map(makeTimer) + Self.borders.map(makeTimer)
    defer { free(timers) }
    for timer in timers { wheel.arm(timer) }
    let order = timers.indices.sorted {
      (timers[$0].pointee.deadline, $0) < (timers[$1].pointee.deadline, $1)
    }
    #expect(wheel.due(at: .max) == order.map { timers[$0] })
  }

  @Test func `whoever looks when told to finds every timer at its time`() {
    let wheel = Wheel()
    var random = SeededGenerator(seed: 7)
    let timers = (0..<2_000).map { _ in
      makeTimer(1 << Int64.random(in: 0..<62, using: &random) + .random(in: 0..<9, using: &random))
    }
    defer { free(timers) }
    for timer in timers { wheel.arm(timer) }
    // The nearest of many slots go, so that their minima are too early.
    for timer in timers.sorted(by: { $0.pointee.deadline < $1.pointee.deadline })
    where Bool.random(using: &random) {
      wheel.disarm(timer)
    }
    var looks = 0
    while let now = wheel.nextLook {
      looks += 1
      guard looks < 10_000, let nearest = wheel.nearest, now <= nearest else { break }
      let fired = wheel.due(at: now)
      #expect(fired.isEmpty == (now < nearest))
      #expect(fired.allSatisfy { $0.pointee.deadline == now })
    }
    #expect(wheel.isEmpty)
    #expect(timers.allSatisfy { !$0.pointee.isArmed })
  }

  @Test func `a clock that is set back fires what is due by it`() {
    let wheel = Wheel()
    #expect(wheel.due(at: 1 << 50).isEmpty)
    let timers = (0..<50).map { makeTimer(Int64($0) << 20) }
    defer { free(timers) }
    for timer in timers.reversed() { wheel.arm(timer) }
    #expect(wheel.nearest == 0)
    #expect(wheel.due(at: 9 << 20) == Array(timers[...9]))
    #expect(wheel.due(at: .max) == Array(timers[10...]))
  }

  /// What a wheel must do, done slowly: the armed timers in the order of deadline, then of arming.
  private struct Model {
    var armed: [(deadline: Int64, order: Int, timer: Timer)] = []
    var nextOrder = 0

    mutating func arm(_ timer: Timer) {
      let deadline = timer.pointee.deadline
      let index = armed.firstIndex { $0.deadline > deadline } ?? armed.endIndex
      armed.insert((deadline, nextOrder, timer), at: index)
      nextOrder += 1
    }

    mutating func disarm(_ timer: Timer) {
      armed.removeAll { $0.timer == timer }
    }

    mutating func popDue(at now: Int64) -> Timer? {
      guard let first = armed.first, first.deadline <= now else { return nil }
      return armed.removeFirst().timer
    }
  }

  /// - Parameter seedAndStep: A seed, and how far the clock goes in a step.
  @Test(
    arguments: [
      (1, 1), (2, 1), (3, 1_000), (5, 40_000), (8, 131_072), (13, 1_000_000), (21, 8_388_609),
      (34, 1_000_000_000), (55, 1 << 45), (89, 1 << 48),
    ] as [(seed: UInt64, step: Int64)]
  )
  func `random arming and disarming agrees with a sorted array`(
    _ seedAndStep: (seed: UInt64, step: Int64)
  ) {
    let (seed, step) = seedAndStep
    var random = SeededGenerator(seed: seed)
    let timers = (0..<200).map { _ in makeTimer(0) }
    defer { free(timers) }
    let wheel = Wheel()
    var model = Model()
    var disagreements = 0
    var now: Int64 = 0
    for _ in 0..<12_000 {
      let timer = timers[Int.random(in: 0..<timers.count, using: &random)]
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        guard !timer.pointee.isArmed else { continue }
        // Near ones, of few deadlines so that many are equal, and far ones.
        let steps = Int64.random(in: -2..<40, using: &random)
        let scale = Bool.random(using: &random) ? 0 : Int64.random(in: 0..<11, using: &random)
        let (delay, isFar) = (steps << scale).multipliedReportingOverflow(by: step)
        let (deadline, isTooFar) = now.addingReportingOverflow(delay)
        timer.pointee.deadline = isFar || isTooFar ? .max : deadline
        wheel.arm(timer)
        model.arm(timer)
      case 10..<15:
        wheel.disarm(timer)
        model.disarm(timer)
      case 15:
        let (sum, overflow) = now.addingReportingOverflow(
          step * (Bool.random(using: &random) ? 1 : .random(in: 0..<4_000, using: &random))
        )
        if !overflow { now = sum }
      default:
        let popped = wheel.popDue(at: now)
        if popped != model.popDue(at: now) { disagreements += 1 }
      }
      let (nearest, look) = (wheel.nearest, wheel.nextLook)
      if nearest != model.armed.first?.deadline || wheel.count != model.armed.count
        || (look == nil) != (nearest == nil) || look ?? 0 > nearest ?? 0
      {
        disagreements += 1
      }
    }
    #expect(disagreements == 0, "seed \(seed)")
    #expect(wheel.due(at: .max) == model.armed.map(\.timer), "seed \(seed)")
    #expect(wheel.isEmpty)
  }

  @Test func `a crowd that has gone leaves a wheel that works`() {
    let wheel = Wheel()
    let timers = (0..<5_000).map { makeTimer(Int64($0 * 7919 % 5_000) << 16) }
    defer { free(timers) }
    for round in 0..<3 {
      for timer in timers { wheel.arm(timer) }
      if round == 1 {
        for timer in timers.reversed() { wheel.disarm(timer) }
      } else {
        let fired = wheel.due(at: .max).map(\.pointee.deadline)
        #expect(fired == (0..<5_000).map { Int64($0) << 16 })
      }
      #expect(wheel.isEmpty)
      #expect(wheel.nextLook == nil)
    }
  }
}
