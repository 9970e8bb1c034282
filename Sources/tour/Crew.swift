// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Coroutines that work through a sequence of jobs together.
///
/// ```
///              orders (bounded)            answers
///  feeder ──────────────────────▶ workers ─────────▶ select ──▶ collect
///    ▲ asks for the next job                           ▲ Ctrl-C
/// ```
///
/// The feeder waits when the workers have enough to do, so that a sequence of any length takes
/// bounded memory. All coroutines run on one thread and need no lock for what they share.
struct Crew {
  let size: Int
  let interrupts: Channel<Interrupt>

  /// A job and the promise of what comes of it.
  private struct Order<Job: Sendable, Outcome>: Sendable {
    let job: Job
    let outcome: Promise<Outcome>
  }

  /// A worker takes so many jobs at a time, if there are enough for all.
  private static let handful = 32

  /// Does some jobs, and delivers what came of each by its index.
  typealias Worker<Job, Outcome> = (
    _ jobs: [Job], _ deliver: (Int, Outcome) -> Void
  ) throws -> Void

  /// Does all jobs.
  ///
  /// - Parameters:
  ///   - jobs: Asked for a job when there is room for one. May park.
  ///   - makeWorker: Makes what one worker does with the jobs that it takes.
  ///   - collect: Gets what came of each job, as soon as it is there, in any order.
  /// - Throws: `Interrupt` on Ctrl-C, when all workers have stopped; what a worker throws.
  func work<Jobs: Sequence, Outcome: Sendable>(
    through jobs: Jobs,
    _ makeWorker: () -> Worker<Jobs.Element, Outcome>,
    collect: @escaping (Outcome) -> Void
  ) throws where Jobs.Element: Sendable {
    let orders = Channel<Order<Jobs.Element, Outcome>>(
      capacity: .bounded(size * Self.handful),
      name: "orders"
    )
    let answers = Channel<Outcome>(capacity: .unbounded, name: "answers")
    try withCoroutineScope { scope in
      let workers = (1...size).map { number in
        let work = makeWorker()
        return scope.launch(name: "worker \(number)") {
          for order in orders {
            let taken = takeShare(of: orders, with: order)
            try work(taken.map(\.job)) { taken[$0].outcome.fulfill($1) }
          }
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

  /// Takes as many orders as are there for each worker: a trip to another thread for several small
  /// jobs is cheaper than one for each.
  private func takeShare<Job, Outcome>(
    of orders: Channel<Order<Job, Outcome>>,
    with first: Order<Job, Outcome>
  ) -> [Order<Job, Outcome>] {
    var taken = [first]
    let share = orders.count / size
    while taken.count < share, case .received(let order) = orders.receiveIfReady() {
      taken.append(order)
    }
    return taken
  }

  /// Waits for answers and for Ctrl-C, whichever comes first.
  private func follow<Outcome>(
    _ answers: Channel<Outcome>,
    _ collect: @escaping (Outcome) -> Void
  ) throws {
    var isOpen = true
    while isOpen {
      try select {
        Receive(from: answers, whenClosed: { isOpen = false }) { collect($0) }
        Receive(from: interrupts) { throw $0 }
      }
    }
  }
}
