// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Testing

/// Addresses that are computed, against those that the compiler gives.
@Suite struct CoreLayoutTests {
  @Test func `a channel's queues and lock are where their addresses say`() {
    let channel = Channel<Int>(capacity: 2)
    let core = channel.core
    withUnsafeMutablePointer(to: &core.pointee.receivers) { #expect($0 == core.receivers) }
    withUnsafeMutablePointer(to: &core.pointee.senders) { #expect($0 == core.senders) }
    withUnsafeMutablePointer(to: &core.pointee.lock) { #expect($0 == core.lock) }
    withExtendedLifetime(channel) {}
  }

  @Test func `what sends and receives write of a channel is one cache line`() {
    for capacity in [0, 1, 3, 5_000] {
      let channel = Channel<Int>(capacity: capacity)
      let start = UInt(bitPattern: channel.core)
      #expect(start % 64 == 0)
      withUnsafeMutablePointer(to: &channel.core.pointee.count) {
        #expect(UInt(bitPattern: $0 + 1) <= start + 64)
      }
    }
  }

  @Test func `a ring's slots are aligned as its values are`() throws {
    let channel = Channel<SIMD8<Double>>(capacity: 3)
    let slot = UInt(bitPattern: channel.core.address(ofKept: 1))
    #expect(slot % UInt(MemoryLayout<SIMD8<Double>>.alignment) == 0)
    for number in 0..<3 {
      #expect(channel.sendIfReady(SIMD8(repeating: Double(number))).isSent)
    }
    for number in 0..<3 {
      guard case .received(let value) = channel.receiveIfReady() else {
        Issue.record("the channel is empty")
        return
      }
      #expect(value == SIMD8(repeating: Double(number)))
    }
  }

  @Test func `a promise's queue, lock, cell and observer are where their addresses say`() {
    let state = UnsafeMutablePointer<PromiseState>.allocate(capacity: 1)
    state.initialize(to: PromiseState())
    withUnsafeMutablePointer(to: &state.pointee.queue) { #expect($0 == state.queue) }
    withUnsafeMutablePointer(to: &state.pointee.lock) { #expect($0 == state.lock) }
    withUnsafeMutablePointer(to: &state.pointee.cell) { #expect($0 == state.cell) }
    withUnsafeMutablePointer(to: &state.pointee.observerBits) {
      let bits = UnsafeMutableRawPointer($0)
      state.withObserver { #expect(UnsafeMutableRawPointer($0) == bits) }
    }
    #expect(_isPOD(PromiseState.self))
    state.deinitialize(count: 1)
    state.deallocate()
  }

  @Test func `a promise's observer fits its bits, of which the first is zero if there is none`() {
    let state = UnsafeMutablePointer<PromiseState>.allocate(capacity: 1)
    state.initialize(to: PromiseState())
    #expect(MemoryLayout<KeptObserver?>.size == MemoryLayout<(UInt, UInt)>.size)
    #expect(state.withObserver { $0.pointee == nil })
    #expect(state.isUnobserved)
    var calls = 0
    state.withObserver { $0.pointee = KeptObserver { _, _ in calls += 1 } }
    #expect(!state.isUnobserved)
    var work = SettlementWork()
    state.withObserver { $0.pointee }?.call(Promise<Int>(), &work)
    #expect(calls == 1)
    state.withObserver { $0.pointee = nil }
    #expect(state.isUnobserved)
    state.deinitialize(count: 1)
    state.deallocate()
  }
}
