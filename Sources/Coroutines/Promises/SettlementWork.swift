// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// What is left to do when a promise has been settled: to call its observers, and then to wake those who await.
///
/// An observer may settle the next promise of a chain, whose work is put on top: the order is that of calls in calls.
/// But it is a list, because a chain may be longer than the stack is deep.
@usableFromInline
package struct SettlementWork {
  /// Gets the promise, which has its outcome, and adds what follows from it.
  @usableFromInline
  package typealias Observer = (AnyPromise, inout SettlementWork) -> Void

  /// What a promise had to call when it was settled.
  struct Observers {
    let first: Observer?
    let extras: PromiseExtras?

    /// Calls them in order, each with all that follows from it.
    func call(_ promise: AnyPromise) {
      guard let first else { return }
      var work = SettlementWork()
      first(promise, &work)
      work.run()
      guard let extras else { return }
      for observer in extras.observers {
        observer(promise, &work)
        work.run()
      }
    }
  }

  private enum Step {
    case call(Observer, AnyPromise)
    case wake(Wakes)
  }

  private final class Wakes {
    var list: ResumeList

    init(_ list: consuming ResumeList) {
      self.list = list
    }

    func resumeAll() {
      var all = ResumeList()
      swap(&all, &list)
      all.resumeAll()
    }
  }

  /// The next one last.
  private var steps: [Step] = []

  /// Nothing to do.
  @usableFromInline
  init() {}

  /// Adds the work of a promise that has just been settled, to be done first, and leaves its lock.
  ///
  /// Those who await are woken at once if nobody is to be called before.
  @usableFromInline
  mutating func add(settled promise: AnyPromise, _ mode: LockMode) {
    var wakes = ResumeList()
    let observers = promise.leaveLock(false, mode, &wakes)
    guard let first = observers.first else {
      wakes.resumeAll()
      return
    }
    if !wakes.isEmpty { steps.append(.wake(Wakes(wakes))) }
    if let extras = observers.extras {
      for observer in extras.observers.reversed() { steps.append(.call(observer, promise)) }
    }
    steps.append(.call(first, promise))
  }

  /// Does the work, and what is added meanwhile.
  @usableFromInline
  mutating func run() {
    while let step = steps.popLast() {
      switch step {
      case .call(let observer, let promise): observer(promise, &self)
      case .wake(let wakes): wakes.resumeAll()
      }
    }
  }
}
