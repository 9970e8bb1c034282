// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization
import Testing

/// Addresses that are computed, against those that the compiler gives.
@Suite struct FiberLayoutTests {
  @Test func `a fiber's lock, joiners and children are where their addresses say`() {
    let home = UnsafeMutablePointer<Home>.allocate(capacity: 1)
    home.initialize(to: Home())
    let fiber = makeFiber(on: home)
    let lock = withUnsafeMutablePointer(to: &fiber.pointee.joinLock) { $0 }
    let joiners = withUnsafeMutablePointer(to: &fiber.pointee.joiners) { $0 }
    let children = withUnsafeMutablePointer(to: &fiber.pointee.children) { $0 }
    let cell = withUnsafeMutablePointer(to: &fiber.pointee.cell) { $0 }
    #expect(fiber.joinLock == lock)
    #expect(fiber.joiners == joiners)
    #expect(fiber.children == children)
    #expect(fiber.cell == cell)
    withUnsafeMutablePointer(to: &fiber.pointee.cell.destroy) {
      let end = UnsafeMutableRawPointer($0 + 1)
      #expect(fiber.cell.room + 4 * MemoryLayout<UInt>.stride == end)
    }
    withUnsafeMutablePointer(to: &fiber.pointee.link) { #expect($0 == fiber.link) }
    withUnsafeMutablePointer(to: &home.pointee.context) { #expect($0 == home.context) }
    fiber.deinitialize(count: 1)
    fiber.deallocate()
    home.deinitialize(count: 1)
    home.deallocate()
  }

  @Test func `a phase is one byte, and comes out of an atomic as it went in`() {
    #expect(MemoryLayout<FiberPhase>.size == 1)
    let phases = [FiberPhase.ready, .running, .suspended, .dead, .ending]
    let place = Atomic(FiberPhase.dead)
    for (number, phase) in phases.enumerated() {
      #expect(phase.rawValue == UInt8(number))
      place.store(phase, ordering: .relaxed)
      #expect(place.load(ordering: .relaxed) == phase)
    }
  }

  @Test func `a descriptor's lock and queues are where their addresses say`() throws {
    let entry = try #require(DescriptorTable.entry(0))
    withUnsafeMutablePointer(to: &entry.pointee.lock) { #expect($0 == entry.lock) }
    withUnsafeMutablePointer(to: &entry.pointee.readers) { #expect($0 == entry.queue(.reading)) }
    withUnsafeMutablePointer(to: &entry.pointee.writers) { #expect($0 == entry.queue(.writing)) }
  }
}
