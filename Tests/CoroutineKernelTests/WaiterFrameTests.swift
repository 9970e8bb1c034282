// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

/// What lies in which cache line.
@Suite struct WaiterFrameTests {
  /// The line in which something lies.
  private func line(_ address: UnsafeRawPointer) -> UInt { UInt(bitPattern: address) / 64 }

  private func withFiber(_ body: (UnsafeMutablePointer<Fiber>) -> Void) {
    let home = UnsafeMutablePointer<Home>.allocate(capacity: 1)
    home.initialize(to: Home())
    let fiber = makeFiber(on: home)
    body(fiber)
    fiber.deinitialize(count: 1)
    fiber.deallocate()
    home.deinitialize(count: 1)
    home.deallocate()
  }

  /// A node and a value keep out of each other's way; - Returns: whether a waker needs one line for both.
  @inline(never)
  private func isOneLine<Value>(_ value: Value, check: (Value) -> Bool) -> Bool {
    var isOne = false
    withFiber { fiber in
      withWaiter(for: fiber, and: Value.self) { waiter, slot in
        #expect(UInt(bitPattern: slot) % UInt(MemoryLayout<Value>.alignment) == 0)
        #expect(waiter.pointee.slot == UnsafeMutableRawPointer(slot))
        slot.initialize(to: value)
        var queue = WaitQueue()
        queue.append(waiter)
        waiter.pointee.outcome = .delivered
        #expect(queue.claimFirst() == waiter)
        let touched = [
          line(slot), line(waiter),
          withUnsafeMutablePointer(to: &waiter.pointee.next) { line($0) },
          withUnsafeMutablePointer(to: &waiter.pointee.fiber) { line($0) },
          withUnsafeMutablePointer(to: &waiter.pointee.race) { line($0) },
          withUnsafeMutablePointer(to: &waiter.pointee.outcome) { line($0) },
          withUnsafeMutablePointer(to: &waiter.pointee.isLinked) { line($0) },
        ]
        #expect(Set(touched.dropFirst()).count == 1)
        isOne = Set(touched).count == 1
        #expect(waiter.pointee.fiber == fiber)
        #expect(check(slot.move()))
      }
    }
    return isOne
  }

  @Test func `a new node is watched by nobody and in no race, whatever was there before`() {
    withFiber { fiber in
      let waiter = UnsafeMutablePointer<Waiter>.allocate(capacity: 1)
      let words = UnsafeMutableRawPointer(waiter).assumingMemoryBound(to: UInt.self)
      for index in 0..<(MemoryLayout<Waiter>.size / MemoryLayout<UInt>.size) { words[index] = .max }
      waiter.begin(for: fiber, slot: nil)
      #expect(waiter.pointee.fiber == fiber)
      #expect(waiter.pointee.slot == nil)
      #expect(waiter.pointee.race == nil)
      // Which is the word of the one that watches.
      #expect(waiter.pointee.callback == nil)
      #expect(words[4] == 0)
      waiter.pointee.callback = { _ in }
      #expect(words[4] != 0)
      #expect(
        withUnsafeMutablePointer(to: &waiter.pointee.race) { UnsafeMutableRawPointer($0) } == words
          + 5
      )
      waiter.deallocate()
    }
  }

  @Test func `a node and a value of up to a word are one line to a waker`() {
    #expect(isOneLine(UInt8(7)) { $0 == 7 })
    #expect(isOneLine(7) { $0 == 7 })
    #expect(isOneLine([1, 2]) { $0 == [1, 2] })
    #expect(isOneLine(()) { true })
  }

  @Test func `values of every size and alignment lie apart from the node`() {
    #expect(!isOneLine("a text of many letters") { $0 == "a text of many letters" })
    #expect(!isOneLine((1, 2, 3)) { $0 == (1, 2, 3) })
    #expect(!isOneLine(SIMD4<Double>(repeating: 2)) { $0 == SIMD4(repeating: 2) })
    #expect(!isOneLine(SIMD64<Int64>(repeating: 3)) { $0 == SIMD64(repeating: 3) })
  }
}
