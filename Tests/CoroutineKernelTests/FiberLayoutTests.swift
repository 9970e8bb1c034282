// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

/// Addresses that are computed, against those that the compiler gives.
@Suite struct FiberLayoutTests {
  @Test func `a fiber's lock, joiners and children are where their addresses say`() {
    let owner = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    let home = UnsafeMutablePointer<Home>.allocate(capacity: 1)
    home.initialize(to: Home())
    let fiber = UnsafeMutablePointer<Fiber>.allocate(capacity: 1)
    fiber.initialize(
      to: Fiber(
        home: home,
        owner: owner,
        stackClass: 0,
        identifier: 0,
        thread: currentThread(),
        body: { _ in }
      )
    )
    let lock = withUnsafeMutablePointer(to: &fiber.pointee.joinLock) { $0 }
    let joiners = withUnsafeMutablePointer(to: &fiber.pointee.joiners) { $0 }
    let children = withUnsafeMutablePointer(to: &fiber.pointee.children) { $0 }
    let cell = withUnsafeMutablePointer(to: &fiber.pointee.cell) { $0 }
    #expect(fiber.joinLock == lock)
    #expect(fiber.joiners == joiners)
    #expect(fiber.children == children)
    #expect(fiber.cell == cell)
    withUnsafeMutablePointer(to: &fiber.pointee.link) { #expect($0 == fiber.link) }
    withUnsafeMutablePointer(to: &home.pointee.context) { #expect($0 == home.context) }
    fiber.deinitialize(count: 1)
    fiber.deallocate()
    home.deinitialize(count: 1)
    home.deallocate()
    owner.deallocate()
  }
}
