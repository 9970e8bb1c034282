// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// What a dump tells of a scheduler's coroutines; to be made by the holder of the turn.
final class Sightings {
  /// Past this number, the stacks' high-water marks are left out: each is a look at all pages of a stack.
  private static let fewEnoughForMarks = 10_000
  private static let framesLimit = 48

  private let core: SchedulerCore
  private let home: UnsafeMutablePointer<Home>
  private let now: Int64
  private var fibers: [Collection.Member] = []
  /// When a timer ends the wait of whoever has this waiter, or is this fiber.
  private var deadlines: [UnsafeMutableRawPointer: Int64] = [:]

  /// What an object has told of itself; it is held, so that no other one comes to have its address.
  private struct Told {
    let object: any WaitSubject
    let description: String
    let state: String?
  }

  /// Many may wait for an object, and it is told of each.
  private var told: [ObjectIdentifier: Told] = [:]

  init(_ core: SchedulerCore) {
    self.core = core
    home = core.home
    now = core.now
    collect()
  }

  var all: [CoroutineDump.Entry] { fibers.map { sighting(of: $0.fiber, on: $0.stack) } }

  private func collect() {
    home.takePosts()
    let started = Collection()
    cck_stack_each(home, Unmanaged.passUnretained(started).toOpaque()) { started, fiber, stack in
      guard let started else { return }
      // SAFETY: what this was called with; and a coroutine on a stack of this home, which has not ended (F1).
      Unmanaged<Collection>.fromOpaque(started).takeUnretainedValue().members
        .append((fiber.assumingMemoryBound(to: Fiber.self), stack))
    }
    fibers = started.members
    // Those that have not begun have no stack.
    var ready = home.pointee.runFirst
    while let fiber = ready {
      if fiber.pointee.stack == nil { fibers.append((fiber, nil)) }
      ready = fiber.next
    }
    home.forEachUnstarted { fibers.append(($0, nil)) }
    var deadlines: [UnsafeMutableRawPointer: Int64] = [:]
    home.pointee.timers.forEach { timer in
      guard let context = timer.pointee.context else { return }
      deadlines[context] = min(timer.pointee.deadline, deadlines[context] ?? .max)
    }
    self.deadlines = deadlines
  }

  /// For C.
  private final class Collection {
    typealias Member = (
      fiber: UnsafeMutablePointer<Fiber>, stack: UnsafeMutablePointer<cck_stack_t>?
    )
    var members: [Member] = []
  }

  private func sighting(
    of fiber: UnsafeMutablePointer<Fiber>,
    on stack: UnsafeMutablePointer<cck_stack_t>?
  ) -> CoroutineDump.Entry {
    let coroutine = fiber.coroutine
    var lists: [UInt] = []
    CancellationScope.forEachListOfChildren(of: fiber) { lists.append(UInt(bitPattern: $0)) }
    let membership =
      fiber.pointee.siblings.map { UnsafeMutableRawPointer($0) } ?? fiber.pointee.registry
    return CoroutineDump.Entry(
      id: coroutine.id,
      name: coroutine.name,
      state: coroutine.state,
      isCancelled: coroutine.isCancelled,
      creationSite: coroutine.creationSite,
      parent: nil,
      scheduler: 0,
      wait: wait(of: coroutine),
      addresses: stack.map { addresses(of: fiber, on: $0) } ?? [],
      stackSize: StackSize(stackClass: fiber.pointee.stackClass).byteCount,
      stackUsed: fibers.count > Self.fewEnoughForMarks
        ? nil : stack.map { cck_stack_high_water($0) },
      membership: membership.map { UInt(bitPattern: $0) },
      lists: lists
    )
  }

  private func addresses(
    of fiber: UnsafeMutablePointer<Fiber>,
    on stack: UnsafeMutablePointer<cck_stack_t>
  ) -> [UInt] {
    [UInt](unsafeUninitializedCapacity: Self.framesLimit) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      // SAFETY: no more than the capacity is written. One that runs is the caller of all this; the others are
      // suspended, and stay so while this has their home's turn.
      let limit = UInt32(Self.framesLimit)
      count =
        if currentThread().runningFiber == fiber {
          Int(cck_frames_here(start, limit))
        } else {
          Int(cck_frames_of_context(stack.context, stack.pointee.low, stack, start, limit))
        }
    }
  }

  private func wait(of coroutine: Coroutine) -> CoroutineDump.Wait? {
    guard let wait = coroutine.wait else { return nil }
    let fiber = coroutine.fiber
    var enders = [UnsafeMutableRawPointer(fiber)]
    if let waiter = fiber.pointee.waiter {
      let nodes = Selection.nodes(of: waiter)
      if let first = nodes.baseAddress {
        enders += nodes.indices.map { UnsafeMutableRawPointer(first + $0) }
      }
    }
    let deadlines = enders.compactMap { self.deadlines[$0] }
    return CoroutineDump.Wait(
      operation: wait.operation,
      subjects: wait.subjects.map { subject in
        let told = told(of: subject.object)
        return CoroutineDump.Wait.Subject(
          description: subject.described(as: told.description),
          details: told.state
        )
      },
      holder: wait.holder?.id,
      duration: .nanoseconds(max(0, now - fiber.parkedAt)),
      timeLeft: deadlines.min().map { .nanoseconds($0 - now) }
    )
  }

  private func told(of object: any WaitSubject) -> Told {
    let address = ObjectIdentifier(object)
    if let known = told[address] { return known }
    let new = Told(
      object: object,
      description: object.waitSubjectDescription,
      state: object.waitSubjectState
    )
    told[address] = new
    return new
  }
}
