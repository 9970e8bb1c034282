// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Coroutines that work through a sequence of jobs together.
///
/// ```
///              orders (bounded)            answers
///  feeder ──────────────────────▶ workers ─────────▶ select ──▶ collect
///    ▲ asks for the next job                           ▲ ticks, Ctrl-C
/// ```
///
/// The feeder waits when the workers have enough to do, so that a sequence of any length takes
/// bounded memory. All coroutines run on one thread and need no lock for what they share.
struct Crew {
  let size: Int
  let interrupts: Channel<Interrupt>
  let progress: Progress

  /// A job and the promise of what comes of it.
  private struct Order<Job: Sendable, Outcome>: Sendable {
    let job: Job
    let outcome: Promise<Outcome>
  }

  /// Does all jobs.
  ///
  /// - Parameters:
  ///   - jobs: Asked for a job when there is room for one. May park.
  ///   - makeWorker: Makes what one worker does with a job.
  ///   - collect: Gets what came of each job, as soon as it is there, in any order.
  /// - Throws: `Interrupt` on Ctrl-C, when all workers have stopped; what a worker throws.
  func work<Jobs: Sequence, Outcome: Sendable>(
    through jobs: Jobs,
    _ makeWorker: () -> (Jobs.Element) throws -> Outcome,
    collect: @escaping (Outcome) -> Void
  ) throws where Jobs.Element: Sendable {
    let orders = Channel<Order<Jobs.Element, Outcome>>(capacity: size * 4)
    let answers = Channel<Outcome>(capacity: .unbounded)
    try withCoroutineScope { scope in
      let workers = (1...size).map { number in
        let work = makeWorker()
        return scope.launch(name: "worker \(number)") {
          for order in orders { order.outcome.fulfill(try work(order.job)) }
        }
      }
      scope.launch(name: "feeder") {
        for job in jobs {
          let outcome = Promise<Outcome>()
          outcome.then { answer in _ = answers.sendIfReady(answer) }
          try orders.send(Order(job: job, outcome: outcome))
        }
        orders.close()
        for worker in workers { try worker.join() }
        answers.close()
      }
      try follow(answers, collect)
    }
  }

  /// Waits for answers, for the time to show progress, and for Ctrl-C, whichever comes first.
  private func follow<Outcome>(
    _ answers: Channel<Outcome>, _ collect: @escaping (Outcome) -> Void
  ) throws {
    var isOpen = true
    while isOpen {
      try select {
        Receive(from: answers, whenClosed: { isOpen = false }) { collect($0) }
        Receive(from: interrupts) { throw $0 }
        After(progress.timeToNextShow) {}
      }
      progress.showIfDue()
    }
  }
}
