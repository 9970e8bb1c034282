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
      SettlementWork.call(first, promise)
      guard let extras else { return }
      for observer in extras.observers { SettlementWork.call(observer, promise) }
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

  /// The very next step, if it is the call of an observer: in most chains there is never another one.
  private var observer: Observer?
  /// What that observer gets.
  private var promise: AnyPromise?
  /// The steps after that, the next one last.
  private var steps: [Step] = []

  /// Nothing to do.
  @usableFromInline
  package init() {}

  /// Adds the work of a promise that has just been settled, to be done first, and leaves its lock.
  ///
  /// Those who await are woken at once if nobody is to be called before.
  @usableFromInline
  mutating func add(settled promise: AnyPromise, _ mode: LockMode) {
    if let observer = promise.leaveLockOfObserved(mode) {
      put(observer, promise)
      return
    }
    var wakes = ResumeList()
    let observers = promise.leaveLock(false, mode, &wakes)
    guard let first = observers.first else {
      wakes.resumeAll()
      return
    }
    putOff()
    if !wakes.isEmpty { steps.append(.wake(Wakes(wakes))) }
    if let extras = observers.extras {
      for observer in extras.observers.reversed() { steps.append(.call(observer, promise)) }
    }
    put(first, promise)
  }

  /// Makes the call of an observer the next step.
  @inline(__always)
  private mutating func put(_ observer: consuming @escaping Observer, _ promise: AnyPromise) {
    putOff()
    self.observer = observer
    self.promise = promise
  }

  /// Makes room for another next step.
  @inline(__always)
  private mutating func putOff() {
    if let observer = observer.take(), let promise = promise.take() {
      steps.append(.call(observer, promise))
    }
  }

  /// Calls an observer of a settled promise, and does what follows from that.
  @usableFromInline @inline(never)
  static func call(_ observer: Observer, _ promise: AnyPromise) {
    var work = SettlementWork()
    observer(promise, &work)
    work.run()
  }

  /// Does the work, and what is added meanwhile.
  @usableFromInline
  mutating func run() {
    while true {
      if let observer = observer.take(), let promise = promise.take() {
        observer(promise, &self)
        continue
      }
      switch steps.popLast() {
      case .call(let observer, let promise): observer(promise, &self)
      case .wake(let wakes): wakes.resumeAll()
      case nil: return
      }
    }
  }
}
