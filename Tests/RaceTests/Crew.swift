// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// A pool whose loops are run by threads of a race, and what its coroutines did.
///
/// Bodies may touch it without locks: threads of a race take turns.
final class Crew {
  let pool: Pool
  private let scheduler: Scheduler
  /// Numbers, in the order in which they were noted.
  var ran: [Int] = []
  var handles: [Coroutine] = []
  let channel = Channel<Int>()

  /// A pool that nobody has launched on yet.
  init(loops: Int) {
    // So that launches from here go to the same loop in each run.
    currentThread().chooseAnew(from: 1)
    pool = Pool(label: "crew", threads: loops)
    scheduler = Scheduler(core: pool.loops[0])
  }

  /// A pool that ends when `body`, launched before its loops run, and all that it launches have ended.
  convenience init(loops: Int, _ body: @escaping (Crew) throws -> Void) {
    self.init(loops: loops)
    start(body)
    pool.stopWhenEmpty()
  }

  /// Launches on the pool, from wherever the caller is.
  @discardableResult
  func start(_ body: @escaping (Crew) throws -> Void) -> ValueCoroutine<Void> {
    // SAFETY: threads of a race take turns.
    nonisolated(unsafe) let crew = self
    nonisolated(unsafe) let body = body
    let coroutine = launch(on: scheduler) { try body(crew) }
    handles.append(coroutine)
    return coroutine
  }

  /// Launches on the pool, as a child of a scope that waits for it; from one of its coroutines.
  func start(in scope: CoroutineScope, _ body: @escaping (Crew) throws -> Void) {
    // SAFETY: as above.
    nonisolated(unsafe) let crew = self
    nonisolated(unsafe) let body = body
    scope.launch(on: .current) { try body(crew) }
  }

  /// Keeps the calling thread busy until something is true.
  func spin(until isTrue: @escaping () -> Bool) { waitInRace(on: self, until: isTrue) }

  /// Everything noted, each once, is what was expected, and everybody has ended.
  func settle(_ expected: Set<Int>) throws {
    try #require(ran.count == expected.count && Set(ran) == expected)
    try settle()
  }

  /// Everybody has ended.
  func settle() throws {
    let haveAllEnded = handles.allSatisfy(\.isFinished)
    try #require(haveAllEnded)
  }
}

extension Race<Crew> {
  /// A race whose first threads run the loops of a pool, which ends when `body`, launched before they run,
  /// and all that it launches have ended.
  init(loops: Int, _ body: @escaping (Crew) throws -> Void) {
    self.init(loops: loops, makeCrew: { Crew(loops: loops, body) })
  }

  /// A race whose first threads run the loops of a pool; somebody must say that it may end.
  init(loops: Int) {
    self.init(loops: loops, makeCrew: { Crew(loops: loops) })
  }

  private init(loops: Int, makeCrew: @escaping () -> Crew) {
    self.init(makeCrew)
    for number in 0..<loops { self = thread { $0.pool.loops[number].run() } }
  }

  /// Runs the threads in every order with few detours, as far as the runs reach, and in random ones.
  func exploreBroadly(
    delays: Int = 3,
    runs: Int = 300,
    _ check: @escaping (Crew) throws -> Void
  ) throws {
    let report = try explore(.exhaustive(delays: delays), runs: runs, check: check)
    try #require(report.runs > 50)
    try explore(.priorities(depth: 4), runs: 100, check: check)
    try explore(.random(), runs: 100, check: check)
  }
}

#endif
