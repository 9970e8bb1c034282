// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Dispatch

/// What a thread did from one point to the next.
struct RaceStep {
  /// The thread's number.
  let thread: Int
  /// For people.
  let text: String
  /// All that it touched.
  var footprint: Set<UInt>
  /// Those that could have gone instead, the one that went before first.
  let candidates: [Int]
}

/// All threads of a run sleep or wait, and none can wake another.
struct LostWakeUp: Error, CustomStringConvertible {
  let threads: [String]

  var description: String {
    (["No thread can go on: a wake-up is lost, or they wait for each other."] + threads)
      .joined(separator: "\n  ")
  }
}

/// A run has not come to an end.
struct EndlessRace: Error, CustomStringConvertible {
  let steps: Int

  var description: String {
    "The threads have not ended after \(steps) steps; one may poll for what another does."
  }
}

/// One run of some threads, one going at a time, switched at their preemption points by a chooser.
final class RaceRun {
  // One thread goes, and only it touches the variables; gates order the threads.

  private static let stepLimit = 100_000

  private var threads: [RaceThread] = []
  private let chooser: any Chooser
  private let end = DispatchSemaphore(value: 0)
  private(set) var steps: [RaceStep] = []
  private(set) var failure: (any Error)?

  /// Virtual time in nanoseconds; jumps when all threads sleep.
  private(set) var clock: Int64 = 0

  /// Homes that have served, to which a wake-up may be on its way until all threads have ended: such a one would wake whoever
  /// sleeps there by then, in another race that goes on at the same time.
  private var homes: [UnsafeMutablePointer<Home>] = []

  /// Numbers for addresses, in the order of their first use.
  private var objects: [UInt: Int] = [:]

  init(_ chooser: any Chooser) { self.chooser = chooser }

  /// Runs the bodies, each on a thread of its own, to their ends.
  ///
  /// If they get stuck, their threads, this object and what they hold are left behind.
  func perform(_ bodies: [() throws -> Void]) {
    threads = bodies.indices.map { RaceThread(number: $0, of: self) }
    for (thread, body) in zip(threads, bodies) {
      // SAFETY: threads of a run take turns, and what is behind a gate happens after what is before it.
      nonisolated(unsafe) let body = body
      let isStarted = startKernelThread(named: "race \(thread.number)") {
        thread.live {
          do {
            try body()
          } catch {
            self.fail(error)
          }
        }
      }
      demand(isStarted, "The system has no thread left for a run of a Race.")
    }
    guard !threads.isEmpty else { return }
    choose(after: nil)
    end.wait()
    if failure is LostWakeUp || failure is EndlessRace {
      _ = Unmanaged.passRetained(self)
    } else {
      for home in homes { home.giveBackKept() }
    }
  }

  private func fail(_ error: any Error) {
    if failure == nil { failure = error }
  }

  // MARK: - Called by the thread that goes

  /// Chooses who goes on, after a thread has come to a point.
  ///
  /// - Returns: True if another one does, and the caller has to wait at its gate.
  @discardableResult
  func handOver(from thread: RaceThread) -> Bool { choose(after: thread) != thread.number }

  @discardableResult
  private func choose(after thread: RaceThread?) -> Int? {
    var ready = threads.filter(\.isReady)
    if ready.isEmpty, let first = threads.compactMap(\.deadline).min() {
      clock = max(clock, first)
      for thread in threads where thread.deadline.map({ $0 <= clock }) ?? false { thread.timeOut() }
      ready = threads.filter(\.isReady)
    }
    if ready.isEmpty || steps.count >= Self.stepLimit {
      if !ready.isEmpty {
        fail(EndlessRace(steps: steps.count))
      } else if threads.contains(where: { !$0.hasEnded }) {
        fail(LostWakeUp(threads: threads.map { "thread \($0.number + 1) \($0.waitDescription)" }))
      }
      end.signal()
      return nil
    }
    // The one that went before comes first: whoever always takes the first never preempts.
    let first = thread?.number ?? 0
    let candidates =
      ready.map(\.number).filter { $0 >= first } + ready.map(\.number).filter { $0 < first }
    let index =
      candidates.count == 1 ? 0 : chooser.choose(among: candidates.map { UInt64($0) })
    let chosen = threads[candidates[index]]
    note(chosen, candidates)
    if chosen !== thread { chosen.goOn() }
    return chosen.number
  }

  private func note(_ thread: RaceThread, _ candidates: [Int]) {
    let (text, footprint): (String, Set<UInt>) =
      switch thread.next {
      case .begin: ("begins", [])
      case .access(let point, let address): ("\(point) \(number(of: address))", [address])
      case .lock(let address):
        // The sections that it is in go on with this step.
        ("lock \(number(of: address))", Set(thread.locks + [address]))
      case .wake(let parker, _):
        ("wakes up \(number(of: UInt(bitPattern: parker)))", [UInt(bitPattern: parker)])
      case .condition(let address, _): ("goes on \(number(of: address))", [address])
      case .end: ("ends", [])
      }
    steps.append(
      RaceStep(thread: thread.number, text: text, footprint: footprint, candidates: candidates)
    )
  }

  private func number(of address: UInt) -> Int {
    if let known = objects[address] { return known }
    objects[address] = objects.count + 1
    return objects.count
  }

  /// Keeps a home until the threads have ended.
  func keep(_ home: UnsafeMutablePointer<Home>) { homes.append(home) }

  /// Somebody is in a section that this lock guards.
  func isLocked(_ address: UInt) -> Bool { threads.contains { $0.locks.contains(address) } }

  /// The thread that goes touches something in a section that a lock guards.
  func alsoTouches(_ address: UInt) {
    steps[steps.count - 1].footprint.insert(address)
  }
}
