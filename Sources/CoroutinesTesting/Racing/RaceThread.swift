// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch

/// Holds the calling thread of a race up until something is true that other threads of it bring about.
///
/// - Parameters:
///   - object: What the condition is about.
///   - isTrue: Called often, on whichever thread goes.
package func waitInRace(on object: AnyObject, until isTrue: @escaping () -> Bool) {
  guard let thread = currentPreemptionObserver() as? RaceThread else {
    fatalError("waitInRace was called outside a Race.")
  }
  thread.wait(on: UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()), until: isTrue)
}

/// One of the threads whose races are explored: it runs only while its run says so.
final class RaceThread: PreemptionObserver, @unchecked Sendable {
  // SAFETY: one thread of a run goes at a time, and gates order them; whoever goes may touch all of them.

  /// What it will do once it goes on.
  enum Next {
    /// Begin.
    case begin
    /// Access an address.
    case access(PreemptionPoint, UInt)
    /// Take a lock that nobody who is held up has.
    case lock(UInt)
    /// Wake up in its parker; for ever if the deadline is nil.
    case wake(UnsafeMutablePointer<Parker>, deadline: Int64?)
    /// Go on once something is true.
    case condition(UInt, () -> Bool)
    /// Nothing: it has ended.
    case end
  }

  let number: Int
  private(set) var next = Next.begin
  private unowned(unsafe) let run: RaceRun
  private let gate = DispatchSemaphore(value: 0)
  /// Those that it is in.
  private(set) var locks: [UInt] = []
  /// It has left one of them that it took within others, so what it did there can be seen.
  private var hasLeftInner = false

  init(number: Int, of run: RaceRun) {
    self.number = number
    // SAFETY: the run outlives its threads; see `RaceRun.perform`.
    self.run = run
  }

  var hasEnded: Bool {
    if case .end = next { true } else { false }
  }

  /// It can go on now.
  var isReady: Bool {
    switch next {
    case .begin, .access: true
    case .lock(let address): !run.isLocked(address)
    case .wake(let parker, _): cck_parker_is_announced(parker) == 0
    case .condition(_, let isTrue): isTrue()
    case .end: false
    }
  }

  /// When it would go on by itself.
  var deadline: Int64? {
    if case .wake(_, let deadline) = next { deadline } else { nil }
  }

  /// Its sleep ends because the time has come.
  func timeOut() {
    if case .wake(let parker, _) = next { cck_parker_retract(parker) }
  }

  /// For people: what it waits for.
  var waitDescription: String {
    switch next {
    case .wake: "sleeps, and nobody will wake it: its coroutines all wait"
    case .condition: "waits for a condition that nobody will make true"
    case .lock: "waits for a lock, whose holder waits, too"
    case .begin, .access: "runs"
    case .end: "has ended"
    }
  }

  /// Lets it go on; the caller then waits at its own gate, or ends.
  func goOn() { gate.signal() }

  /// Runs `body` as this thread.
  func live(_ body: () -> Void) {
    gate.wait()
    // The same in each run.
    currentThread().chooseAnew(from: UInt32(number + 1))
    withPreemptionObserver(self, body)
    next = .end
    run.handOver(from: self)
  }

  private func pause(_ next: Next) {
    self.next = next
    if run.handOver(from: self) { gate.wait() }
  }

  /// Holds the calling thread up until something is true that other threads of the run bring about.
  func wait(on address: UnsafeRawPointer, until isTrue: @escaping () -> Bool) {
    pause(.condition(UInt(bitPattern: address), isTrue))
  }

  // MARK: - PreemptionObserver

  func reach(_ point: PreemptionPoint, _ address: UnsafeRawPointer) {
    let address = UInt(bitPattern: address)
    if !locks.isEmpty { return run.alsoTouches(address) }
    pause(.access(point, address))
  }

  func willLock(_ address: UnsafeRawPointer) {
    let address = UInt(bitPattern: address)
    // All locks that are taken before any is left are one step: a select takes them in the order of their
    // addresses, which are others in each run.
    if locks.isEmpty || hasLeftInner || run.isLocked(address) {
      pause(.lock(address))
    } else {
      run.alsoTouches(address)
    }
    locks.append(address)
  }

  func didUnlock(_ address: UnsafeRawPointer) {
    let address = UInt(bitPattern: address)
    if let index = locks.lastIndex(of: address) { locks.remove(at: index) }
    hasLeftInner = !locks.isEmpty
  }

  // Without an address it is something that stands behind a point of its own, or is read by its own loop.
  func note(_ address: UnsafeRawPointer?) {
    if let address { run.alsoTouches(UInt(bitPattern: address)) }
  }

  func sleep(in parker: UnsafeMutablePointer<Parker>, atMost timeout: Int64) {
    pause(.wake(parker, deadline: timeout < 0 ? nil : run.clock + timeout))
    cck_parker_retract(parker)
  }

  func keep(_ home: UnsafeMutablePointer<Home>) -> Bool {
    run.keep(home)
    return true
  }

  var now: Int64 { run.clock }
}
