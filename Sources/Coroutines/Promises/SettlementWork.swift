// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// What is left to do when a promise has been settled: to call its observers, and then to wake those who await.
///
/// An observer may settle the next promise of a chain, whose work is put on top: the order is that of calls in calls.
/// But it is a list, because a chain may be longer than the stack is deep.
package struct SettlementWork {
  /// Gets the outcome from its promise, and adds what follows from it.
  package typealias Observer = (inout SettlementWork) -> Void

  private enum Step {
    /// The promise is kept for the observer, which looks at it.
    case call(Observer, keeping: AnyPromise?)
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

  /// Adds the work of a promise, to be done first.
  ///
  /// - Parameters:
  ///   - observers: In the order in which they are to be called; not none.
  ///   - wakes: Those to be woken after that.
  ///   - promise: Is kept until then; nil if the caller sees to it.
  mutating func add(
    _ observers: [Observer],
    _ wakes: consuming ResumeList,
    keeping promise: AnyPromise?
  ) {
    if !wakes.isEmpty { steps.append(.wake(Wakes(wakes))) }
    for observer in observers.reversed() { steps.append(.call(observer, keeping: promise)) }
  }

  /// Does the work, and what is added meanwhile.
  mutating func run() {
    while let step = steps.popLast() {
      switch step {
      case .call(let observer, _): observer(&self)
      case .wake(let wakes): wakes.resumeAll()
      }
    }
  }
}
