// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A bare flow of control on a stack of its own: what the layers above are made of, without them.
private final class Flow {
  let own: UnsafeMutablePointer<cck_context_t>
  let caller: UnsafeMutablePointer<cck_context_t>
  let stack: UnsafeMutablePointer<cck_stack_t>
  private let body: (Flow) -> Void
  private(set) var isFinished = false
  var message = 0

  init(_ body: @escaping (Flow) -> Void) throws {
    self.body = body
    stack = try #require(cck_stack_acquire(currentThread(), 4))
    own = stack.context
    caller = .allocate(capacity: 1)
    caller.initialize(to: cck_context_t())
    cck_context_make(own, stack.pointee.low, stack, enterFlow)
  }

  deinit {
    cck_context_retire(own)
    cck_stack_release(currentThread(), stack)
    caller.deallocate()
  }

  /// Runs it until it suspends itself or ends.
  @inline(never)
  func resume() {
    _ = cck_context_switch(caller, own, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Goes back to whoever resumed it.
  @inline(never)
  func suspend() {
    _ = cck_context_switch(own, caller, nil)
  }

  fileprivate func live() {
    body(self)
    isFinished = true
  }
}

private let enterFlow: cck_entry_t = { argument in
  // SAFETY: `resume` passes the flow, which outlives its stack.
  guard let argument else { return }
  let own: UnsafeMutablePointer<cck_context_t>
  let caller: UnsafeMutablePointer<cck_context_t>
  do {
    let flow = Unmanaged<Flow>.fromOpaque(argument).takeUnretainedValue()
    flow.live()
    own = flow.own
    caller = flow.caller
  }
  cck_context_leave(own, caller, nil)
}

@Suite struct ContextTests {
  @Test func `two flows take turns`() throws {
    var log: [String] = []
    let flow = try Flow { flow in
      for number in 1...3 {
        log.append("flow \(number)")
        flow.suspend()
      }
      log.append("flow ends")
    }
    for number in 1...3 {
      flow.resume()
      log.append("caller \(number)")
    }
    #expect(!flow.isFinished)
    flow.resume()
    #expect(flow.isFinished)
    #expect(
      log == ["flow 1", "caller 1", "flow 2", "caller 2", "flow 3", "caller 3", "flow ends"]
    )
  }

  @Test func `a switch to a flow that has finished stops the program and says why (2.1-16)`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let flow = try Flow { _ in }
      flow.resume()
      flow.resume()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("a switch to a flow of control that has finished"))
  }

  @Test func `a million switches lose nothing (3.4-8)`() throws {
    let flow = try Flow { flow in
      while flow.message < 500_000 {
        flow.message += 1
        flow.suspend()
      }
    }
    var resumes = 0
    while !flow.isFinished {
      flow.resume()
      resumes += 1
    }
    #expect(flow.message == 500_000)
    #expect(resumes == 500_001)
  }

  @Test func `local variables of many flows survive interleaving (3.5-s4)`() throws {
    var sums: [Int: Int] = [:]
    let flows = try (0..<50).map { index in
      try Flow { flow in
        var numbers: [Int] = []
        for step in 0..<20 {
          numbers.append(index * 1000 + step)
          flow.suspend()
        }
        sums[index] = numbers.reduce(0, +)
      }
    }
    for _ in 0...20 {
      for flow in flows { flow.resume() }
    }
    #expect(flows.allSatisfy { $0.isFinished })
    for index in 0..<50 { #expect(sums[index] == index * 20_000 + 190) }
  }

  private struct Problem: Error, Equatable {
    let number: Int
  }

  @inline(never)
  private func failAfterResume(_ flow: Flow, _ number: Int) throws -> Int {
    flow.suspend()
    if number % 2 == 0 { throw Problem(number: number) }
    return number
  }

  @Test func `an error thrown after a resume reaches its catch`() throws {
    var caught: [Int] = []
    var returned: [Int] = []
    let flow = try Flow { flow in
      for number in 0..<6 {
        do {
          returned.append(try self.failAfterResume(flow, number))
        } catch let problem as Problem {
          caught.append(problem.number)
        } catch {
          Issue.record(error)
        }
      }
    }
    while !flow.isFinished { flow.resume() }
    #expect(caught == [0, 2, 4])
    #expect(returned == [1, 3, 5])
  }

  @inline(never)
  private func polynomial(_ flow: Flow?, _ seed: Double) -> Double {
    // More live doubles than the callee-saved registers of any architecture.
    let a = seed * 1.5
    let b = seed * 2.5
    let c = seed * 3.5
    let d = seed * 4.5
    let e = seed * 5.5
    let f = seed * 6.5
    let g = seed * 7.5
    let h = seed * 8.5
    let i = seed * 9.5
    let j = seed * 10.5
    flow?.suspend()
    let first = a + b * 2 + c * 3 + d * 4 + e * 5
    let second = f * 6 + g * 7 + h * 8 + i * 9 + j * 10
    return first + second
  }

  @Test func `doubles in registers survive a switch on both sides (3.4-8)`() throws {
    var results: [Double] = []
    let flow = try Flow { flow in
      for step in 1...100 { results.append(self.polynomial(flow, Double(step))) }
    }
    var callerSum = 0.0
    var expectedSum = 0.0
    var step = 0.0
    while !flow.isFinished {
      let x = step * 0.25
      let y = step * 0.75
      flow.resume()
      callerSum += x + y
      expectedSum += step
      step += 1
    }
    #expect(callerSum == expectedSum)
    #expect(results == (1...100).map { polynomial(nil, Double($0)) })
  }

  /// The control words are not switched, nor set to what they were when a flow was made or left.
  @Test func `a switch leaves the thread's rounding mode alone (3.4-8)`() throws {
    let (usual, downward) = (fegetround(), FE_DOWNWARD as Int32)
    defer { fesetround(usual) }
    fesetround(downward)
    var inside: [Int32] = []
    let flow = try Flow { flow in
      for _ in 0..<3 {
        inside.append(fegetround())
        flow.suspend()
      }
    }
    var outside: [Int32] = []
    for _ in 0..<3 {
      flow.resume()
      outside.append(fegetround())
    }
    flow.resume()
    fesetround(usual)
    #expect(flow.isFinished)
    #expect(inside == [downward, downward, downward])
    #expect(outside == inside)
  }

  @Test func `a flow that goes on on another thread finds its locals`() throws {
    final class Carrier: @unchecked Sendable {
      // SAFETY: the threads use it one after another.
      let flow: Flow
      init(_ flow: Flow) { self.flow = flow }
    }
    var total = 0
    let flow = try Flow { flow in
      for step in 1...10 {
        total += step
        flow.suspend()
      }
    }
    let carrier = Carrier(flow)
    for _ in 1...11 {
      onThreads(1) { _ in carrier.flow.resume() }
    }
    #expect(flow.isFinished)
    #expect(total == 55)
  }

  @Test func `a new flow starts with an aligned stack`() throws {
    var addressIsAligned = false
    let flow = try Flow { _ in
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { buffer in
        addressIsAligned = buffer.baseAddress.map { UInt(bitPattern: $0) % 16 == 0 } ?? false
      }
    }
    flow.resume()
    #expect(addressIsAligned)
  }

  @Test func `a flow's stack is used again by the next flow`() throws {
    var stacks: Set<UInt> = []
    for _ in 0..<100 {
      let flow = try Flow { _ in }
      stacks.insert(UInt(bitPattern: flow.stack))
      flow.resume()
    }
    #expect(stacks.count == 1)
  }
}
