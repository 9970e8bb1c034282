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

  @Test func `a promise's queue, lock and cell are where their addresses say`() {
    let state = UnsafeMutablePointer<PromiseState>.allocate(capacity: 1)
    state.initialize(to: PromiseState())
    withUnsafeMutablePointer(to: &state.pointee.queue) { #expect($0 == state.queue) }
    withUnsafeMutablePointer(to: &state.pointee.lock) { #expect($0 == state.lock) }
    withUnsafeMutablePointer(to: &state.pointee.cell) { #expect($0 == state.cell) }
    state.deinitialize(count: 1)
    state.deallocate()
  }
}
