// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// `select` with clauses that the program chooses.
extension FuzzRun {
  /// What a `select` came to.
  private enum Choice {
    case done(Int)
    case closed(Int)
  }

  /// What is noted while a `select` runs.
  private final class Attempt {
    let began: Int
    /// Clauses that had something to do when it began.
    var ready: Set<Int> = []
    /// How many values each channel kept then.
    var counts: [Int: Int] = [:]
    /// The values of the sending clauses.
    var offers: [Int: Parcel] = [:]
    var numbers: [Int: Int] = [:]
    var actions = 0

    init(began: Int) { self.began = began }
  }

  func select(among clauses: [FuzzClause], _ member: FuzzMember) throws {
    let attempt = Attempt(began: tick())
    var wait = FuzzWait(operation: "select")
    var hasDefault = false
    var soonest: Int?
    for (place, clause) in clauses.enumerated() {
      switch clause {
      case .receive(let index, _):
        let model = channels[index]
        attempt.counts[index] = model.channel.count
        if model.channel.count > 0 || model.isClosed { attempt.ready.insert(place) }
        wait.receives.append(index)
      case .send(let index):
        let model = channels[index]
        attempt.counts[index] = model.channel.count
        if model.drops || model.isClosed || model.channel.count < model.plan.limit {
          attempt.ready.insert(place)
        }
        let parcel = offer(to: index)
        attempt.offers[place] = parcel
        attempt.numbers[place] = parcel.number
        wait.sends.append(index)
      case .after(let time):
        soonest = min(soonest ?? time, time)
        wait.isTimed = true
      case .otherwise: hasDefault = true
      }
    }
    let end = soonest.map { now + Int64($0) * 1000 }
    defer {
      // Those that were not sent.
      for (_, number) in attempt.numbers where parcels[number].fate == .offered {
        conclude(number, .refused)
      }
    }
    let choice: Choice
    do {
      choice = try park(
        member,
        wait,
        isParkPoint: !hasDefault,
        isInstant: hasDefault || soonest == 0 || !attempt.ready.isEmpty
      ) { try begin(clauses, attempt) }
    } catch {
      attempt.offers = [:]
      if attempt.actions != 0 { complain("a select threw after \(attempt.actions) actions") }
      guard error as? ChannelError == .closed else { throw error }
      let isReason = clauses.contains {
        switch $0 {
        case .receive(let index, false), .send(let index): channels[index].isClosed
        default: false
        }
      }
      if !isReason { complain("a select found a closed channel where there is none") }
      return
    }
    if attempt.actions != 1 { complain("a select did \(attempt.actions) clauses") }
    switch choice {
    case .closed(let place):
      guard case .receive(let index, _) = clauses[place] else { return }
      if !channels[index].isClosed { complain("channel \(index) is said to be closed") }
    case .done(let place):
      switch clauses[place] {
      case .after(let time):
        if !attempt.ready.isEmpty { complain("a select waited though a clause was ready") }
        if time != soonest { complain("a select waited for \(time) µs, not \(soonest ?? -1)") }
        if let end, now != end { complain("a select ended \(now - end) ns late") }
      case .otherwise:
        if !attempt.ready.isEmpty {
          complain("a select took its default though a clause was ready")
        }
      case .receive, .send: break
      }
    }
  }

  private func begin(_ clauses: [FuzzClause], _ attempt: Attempt) throws -> Choice {
    let rest = clauses.dropFirst()
    switch clauses[0] {
    case .receive(let index, let handles):
      let first = receiving(index, 0, handles, attempt)
      return try go(first, rest, attempt)
    case .send(let index):
      let first = sending(index, 0, attempt)
      return try go(first, rest, attempt)
    case .after(let time):
      let first = after(time, 0, attempt)
      return try go(first, rest, attempt)
    case .otherwise:
      let first = otherwise(0, attempt)
      return try go(first, rest, attempt)
    }
  }

  /// Adds the rest of the clauses to those that there are, and selects.
  private func go<Clauses: SelectClause & ~Copyable>(
    _ clauses: consuming Clauses,
    _ rest: ArraySlice<FuzzClause>,
    _ attempt: Attempt
  ) throws -> Choice where Clauses.Result == Choice {
    guard let clause = rest.first else {
      return try SelectBuilder.buildBlock(clauses).get()
    }
    let (place, rest) = (rest.startIndex, rest.dropFirst())
    switch clause {
    case .receive(let index, let handles):
      let next = receiving(index, place, handles, attempt)
      return try go(
        SelectPair(clauses, next),
        rest,
        attempt
      )
    case .send(let index):
      let next = sending(index, place, attempt)
      return try go(
        SelectPair(clauses, next),
        rest,
        attempt
      )
    case .after(let time):
      let next = after(time, place, attempt)
      return try go(
        SelectPair(clauses, next),
        rest,
        attempt
      )
    case .otherwise:
      let next = otherwise(place, attempt)
      return try go(
        SelectPair(clauses, next),
        rest,
        attempt
      )
    }
  }

  private func receiving(
    _ index: Int,
    _ place: Int,
    _ handlesClosing: Bool,
    _ attempt: Attempt
  ) -> Receive<Parcel, Choice> {
    let closing: (() throws -> Choice)? =
      handlesClosing
      ? {
        attempt.actions += 1
        return .closed(place)
      } : nil
    return Receive<Parcel, Choice>(from: channels[index].channel, whenClosed: closing) { parcel in
      attempt.actions += 1
      if attempt.counts[index, default: 0] > 0 { self.unkeep(parcel.number, from: index) }
      self.receive(parcel.number, from: index, began: attempt.began, isOrdered: true)
      return .done(place)
    }
  }

  private func sending(_ index: Int, _ place: Int, _ attempt: Attempt) -> Send<
    Parcel, Choice
  > {
    guard let parcel = attempt.offers.removeValue(forKey: place) else {
      preconditionFailure("a clause has no value to send")
    }
    let number = parcel.number
    return Send<Parcel, Choice>(parcel, to: channels[index].channel) {
      attempt.actions += 1
      self.keep(number, in: index)
      return .done(place)
    }
  }

  private func after(_ time: Int, _ place: Int, _ attempt: Attempt) -> After<Choice> {
    After<Choice>(.microseconds(time)) {
      attempt.actions += 1
      return .done(place)
    }
  }

  private func otherwise(_ place: Int, _ attempt: Attempt) -> Default<Choice> {
    Default<Choice> {
      attempt.actions += 1
      return .done(place)
    }
  }
}
