// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Synchronization
import Testing

@testable import Coroutines

/// Addresses that are computed, against those that the compiler gives.
@Suite struct CoroutineLayoutTests {
  @Test func `a coroutine's fiber is where its address says, and leads back`() throws {
    try runBlocking {
      let coroutine = launch { 1 }
      let object = Unmanaged<Coroutine>.passUnretained(coroutine).toOpaque()
      let storage = withUnsafeMutablePointer(to: &coroutine.storage) { $0 }
      #expect(coroutine.fiber == storage)
      #expect(coroutine.fiber.owner == object)
      #expect(coroutine.fiber.coroutine === coroutine)
    }
  }

  @Test func `all are of one size, and begin with a word that can link them (Z1, Z3)`() throws {
    // On this thread, which is the only one that may look into it.
    try runBlocking {
      let coroutine = launch {}
      let mirror = Mirror(reflecting: coroutine)
      #expect(mirror.children.isEmpty)
      #expect(mirror.superclassMirror?.subjectType == Coroutine.self)
      let link = withUnsafeMutablePointer(to: &coroutine.fiber.pointee.link) {
        UnsafeMutableRawPointer($0)
      }
      #expect(link == UnsafeMutableRawPointer(coroutine.fiber))
    }
    #expect(MemoryLayout<InboxLink>.size >= MemoryLayout<UInt>.size)
  }

  @Test
  func `the states of a coroutine are one word, of which a new one's are its class of stacks`()
    throws
  {
    try runBlocking {
      let coroutine = launch(stackSize: .kibibytes(64)) {}
      let fiber = coroutine.fiber
      let first = fiber.states.pointee
      #expect(first == UInt64(fiber.pointee.stackClass))
      #expect(first != 0)
      #expect(UInt(bitPattern: fiber.states) % 8 == 0)
      // Each in its byte, and nothing else in the word.
      fiber.pointee.placement = .wide
      fiber.pointee.phase.store(.suspended, ordering: .relaxed)
      fiber.pointee.attention.store(true, ordering: .relaxed)
      coroutine.isObserved.set()
      coroutine.cancellationRequest.set()
      coroutine.isScoped = true
      #expect(fiber.states.pointee == first | 0x0101_0101_0200_0200)
      fiber.states.pointee = first
      #expect(!coroutine.isScoped && !coroutine.isCancelled && coroutine.state == .ready)
      let after = UnsafeMutableRawPointer(fiber.states + 1)
      #expect(
        withUnsafeMutablePointer(to: &coroutine.extras) { UnsafeMutableRawPointer($0) } == after
      )
    }
  }

  @Test func `a launched closure and who performs it fit where the value will be`() {
    #expect(MemoryLayout<() throws -> Int>.size == MemoryLayout<ClosureBits>.size)
    #expect(MemoryLayout<Performer>.size == MemoryLayout<ClosureBits>.size)
    #expect(MemoryLayout<ClosureBits>.size == 2 * MemoryLayout<UInt>.size)
  }

  @Test func `what a closure has captured is its second word, and is let go of once`() throws {
    final class Captured {
      let ended: Cell<Int>
      init(_ ended: Cell<Int>) { self.ended = ended }
      deinit { ended.value = (ended.value ?? 0) + 1 }
      func one() -> Int { 1 }
    }
    func end(_ closure: @escaping () throws -> Int) -> Int? {
      let value = try? closure()
      ClosureBits(closure).end()
      return value
    }
    let ended = Cell(0)
    // It has captured nothing; one object, which it may be itself; two; its caller has it, too.
    #expect(end { 1 } == 1)
    do {
      let captured = Captured(ended)
      #expect(end { captured.one() } == 1)
      #expect(end(captured.one) == 1)
      #expect(ended.value == 0)
    }
    #expect(ended.value == 1)
    do {
      let (first, second) = (Captured(ended), Captured(ended))
      #expect(end { first.one() + second.one() } == 2)
    }
    #expect(ended.value == 3)
    do {
      let captured = Captured(ended)
      let kept = { captured.one() }
      #expect(end(kept) == 1)
      #expect(end(kept) == 1)
      #expect(ended.value == 3)
      #expect(kept() == 1)
    }
    #expect(ended.value == 4)
  }

  @Test func `debuggers and crash reports find its name and where it was launched`() throws {
    try runBlocking {
      let coroutine = launch(name: "found") {}
      let line = UInt32(#line - 1)
      let fiber = UnsafeRawPointer(coroutine.fiber)
      func word(_ start: UnsafeRawPointer, _ offset: Int32) -> UInt {
        start.load(fromByteOffset: Int(offset), as: UInt.self)
      }
      let site = coroutine.creationSite
      #expect(word(fiber, CCK_FIBER_SITE_START) == UInt(bitPattern: site.start))
      let length = Int(CCK_FIBER_SITE_LENGTH)
      #expect(fiber.load(fromByteOffset: length, as: UInt32.self) == site.length)
      let place = Int(CCK_FIBER_SITE_LINE)
      #expect(fiber.load(fromByteOffset: place, as: UInt32.self) == line)
      let extras = try #require(UnsafeRawPointer(bitPattern: word(fiber, CCK_FIBER_EXTRAS)))
      #expect(word(extras, CCK_EXTRAS_LABEL) == UInt(bitPattern: coroutine.label))
    }
  }
}
