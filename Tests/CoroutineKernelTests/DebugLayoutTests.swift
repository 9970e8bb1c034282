// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization
import Testing

/// Where debuggers and crash reports look, against where the compiler puts things.
@Suite(.timeLimit(.minutes(30))) struct DebugLayoutTests {
  private let home = UnsafeMutablePointer<Home>.allocate(capacity: 1)

  private func fiber(_ identifier: UInt64) -> UnsafeMutablePointer<Fiber> {
    makeFiber(on: home, identifier: identifier)
  }

  /// What is at an offset, read as debuggers do.
  private func word<T>(_ start: UnsafeMutablePointer<T>, _ offset: Int32) -> UInt
  where T: ~Copyable {
    UnsafeRawPointer(start).load(fromByteOffset: Int(offset), as: UInt.self)
  }

  init() { home.initialize(to: Home()) }

  @Test func `a fiber's number, phase, operation and stack are found`() {
    let fiber = fiber(0x1234_5678_9abc)
    #expect(word(fiber, CCK_FIBER_IDENTIFIER) == 0x1234_5678_9abc)
    for (number, phase) in [FiberPhase.ready, .running, .suspended, .dead, .ending].enumerated() {
      fiber.pointee.phase.store(phase, ordering: .relaxed)
      let byte = UnsafeRawPointer(fiber)
        .load(fromByteOffset: Int(CCK_FIBER_PHASE), as: UInt8.self)
      #expect(Int(byte) == number)
    }
    for attention in [false, true] {
      fiber.pointee.attention.store(attention, ordering: .relaxed)
      let byte = UnsafeRawPointer(fiber)
        .load(fromByteOffset: Int(CCK_FIBER_ATTENTION), as: UInt8.self)
      #expect(byte == (attention ? 1 : 0))
    }
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    fiber.pointee.operation = UnsafePointer(text)
    #expect(word(fiber, CCK_FIBER_OPERATION) == UInt(bitPattern: text))
    let stack = UnsafeMutablePointer<cck_stack_t>.allocate(capacity: 1)
    fiber.pointee.stack = stack
    #expect(word(fiber, CCK_FIBER_STACK) == UInt(bitPattern: stack))
    stack.deallocate()
    text.deallocate()
    fiber.deallocate()
    home.deinitialize(count: 1)
    home.deallocate()
  }

  @Test func `what lies in line at a home is found`() {
    let first = fiber(1)
    let second = fiber(2)
    home.push(first)
    home.push(second)
    #expect(word(home, CCK_HOME_RUN_FIRST) == UInt(bitPattern: first))
    #expect(word(first, CCK_FIBER_LINK_NEXT) == UInt(bitPattern: second))
    #expect(word(first, CCK_FIBER_LINK_PERFORM) == 0)
    _ = home.pop()
    _ = home.pop()

    #expect(word(home, CCK_HOME_INBOX) == 0)
    _ = home.post(first.link)
    _ = home.post(second.link)
    #expect(word(home, CCK_HOME_INBOX) == UInt(bitPattern: second))
    #expect(word(second, CCK_FIBER_LINK_NEXT) == UInt(bitPattern: first))
    first.deallocate()
    second.deallocate()
    home.deinitialize(count: 1)
    home.deallocate()
  }

  @Test func `a pool's unstarted fibers are found`() {
    let first = fiber(1)
    let second = fiber(2)
    #expect(home.offer(first))
    #expect(home.offer(second))
    let list = home.pointee.unstarted
    #expect(word(home, CCK_HOME_UNSTARTED) == UInt(bitPattern: list))
    #expect(word(list, CCK_UNSTARTED_NEWEST) == UInt(bitPattern: second))
    #expect(word(second, CCK_FIBER_OLDER) == UInt(bitPattern: first))

    let third = fiber(3)
    let fourth = fiber(4)
    #expect(home.send(third))
    #expect(home.send(fourth))
    #expect(word(list, CCK_UNSTARTED_NEWEST) == UInt(bitPattern: second))
    #expect(word(list, CCK_UNSTARTED_ARRIVALS) == UInt(bitPattern: fourth))
    #expect(word(fourth, CCK_FIBER_LINK_NEXT) == UInt(bitPattern: third))
    // In the order of the launches.
    var order: [UInt64] = []
    while let fiber = home.takeUnstarted(oldest: true) { order.append(fiber.pointee.identifier) }
    #expect(order == [1, 2, 3, 4])
    for fiber in [first, second, third, fourth] { fiber.deallocate() }
    home.deinitialize(count: 1)
    home.deallocate()
  }
}
