// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Synchronization

/// One run of a generated program on a `TestScheduler`, with a model beside it that knows what may happen.
///
/// What is checked:
/// - each value is received once, or was given back, or was dropped by a channel that does so, or is
///   still kept at the end; none lives longer than that;
/// - values come out of a channel in the order in which their sends began, to receives in the order in
///   which those began;
/// - who can go on does not wait, and nobody is left waiting for something that is there;
/// - `select` does exactly one clause, and does a ready one if there is one;
/// - sleeps and timeouts end at their time, neither earlier nor later;
/// - a cancelled coroutine throws at its next wait, and nobody else does;
/// - a promise comes to what settled it first;
/// - all coroutines end, and no error is lost.
package final class FuzzRun {
  /// What was wrong; empty if nothing was.
  package private(set) var complaints: [String] = []
  /// Calls made.
  package private(set) var calls = 0

  let program: FuzzProgram
  let channels: [ChannelModel]
  let promises: [PromiseModel]
  let census = ParcelCensus()
  private(set) var parcels: [ParcelRecord] = []
  private var members: [FuzzMember] = []
  private var roots: [FuzzMember] = []
  /// Counts what happens: a call during which it has not changed has let nobody else run.
  private(set) var ticks = 0
  /// Calls that may still be made: programs are to end soon.
  private var fuel = 400
  private var nextOutcome = 0
  /// Waits that were cancelled without a reason that the model knows, by name.
  private var unexplained: [String] = []
  /// Names of those who are left waiting, in a program that leaves them.
  private var abandoned: Set<String> = []

  private init(_ program: FuzzProgram) {
    self.program = program
    channels = program.channels.enumerated().map { ChannelModel($1, $0) }
    promises = (0..<program.promiseCount).map { _ in PromiseModel() }
  }

  /// Runs a program.
  ///
  /// - Parameter program: The program.
  /// - Returns: What came of it.
  package static func of(_ program: FuzzProgram) -> FuzzRun {
    let run = FuzzRun(program)
    run.execute()
    return run
  }

  /// The complaints, and the program; nil if there are none.
  package var report: String? {
    guard !complaints.isEmpty else { return nil }
    return (complaints.map { "- \($0)" } + ["The program:", program.description])
      .joined(separator: "\n")
  }

  // MARK: - The whole

  private func execute() {
    let order = program.orderSeed.map { TestScheduler.Order.random(seed: $0) } ?? .firstCome
    let scheduler = TestScheduler(order: order)
    do {
      try scheduler.run { try self.main() }
      if !abandoned.isEmpty { complain("no deadlock was reported, but \(abandoned) wait") }
    } catch let deadlock as Deadlock {
      // What it says is `coroutine #7 "member 3" (suspended)`.
      let told = Set(
        deadlock.waiting.map { $0.coroutine.split(separator: "\"")[1] }.map(String.init)
      )
      if told != abandoned { complain("\(abandoned) wait, but the report is: \(deadlock)") }
      unexplained.removeAll { abandoned.contains($0) }
    } catch {
      complain("an error came out: \(error)")
    }
    for one in unexplained { complain("\(one) was cancelled without a reason") }
    if !scheduler.coroutines.isEmpty { complain("left over: \(scheduler.coroutines)") }
    for member in members where !member.hasEnded { complain("\(member.name) has not ended") }
    for (index, model) in channels.enumerated() { settleAccounts(of: model, index) }
    for (index, model) in promises.enumerated() { checkObservers(of: model, index) }
    for member in members { member.handle = nil }
    if census.count.load(ordering: .relaxed) != 0 {
      complain("\(census.count.load(ordering: .relaxed)) values are still alive")
    }
  }

  /// Long after everything that ends by itself, and never at the same moment as it.
  private static let longAfter = Duration.seconds(1000) + .nanoseconds(1)

  private func main() throws {
    for (index, steps) in program.roots.enumerated() {
      let member = enlist(isStubborn: program.isStubborn[index])
      roots.append(member)
      watch(member, launch(name: member.name) { self.run(member, steps) })
    }
    try Coroutine.sleep(for: Self.longAfter)
    checkWaits()
    switch program.ending {
    case .close: break
    case .cancel:
      for member in members { cancel(member) }
      try Coroutine.sleep(for: Self.longAfter)
      checkWaits()
    case .abandon:
      abandoned = Set(members.filter { !$0.hasEnded }.map(\.name))
      return
    }
    for index in channels.indices { close(index) }
    for index in promises.indices { settle(index, fulfilling: true) }
    try Coroutine.sleep(for: Self.longAfter)
    checkWaits()
    for member in members where !member.hasEnded {
      complain("all is closed, and \(member.name) still waits in \(member.wait?.operation ?? "?")")
    }
  }

  /// Looks, when nothing is ready and no time will come, for those who wait for what is there.
  private func checkWaits() {
    letTimePass()
    let waiting = members.filter { !$0.hasEnded }
    for member in waiting {
      guard let wait = member.wait else {
        complain("\(member.name) neither runs nor waits")
        continue
      }
      let who = "\(member.name) waits in \(wait.operation), and"
      if member.mustBeCancelled, !wait.isUninterrupted { complain("\(who) it is cancelled") }
      if wait.isTimed { complain("\(who) its time has come") }
      if let index = wait.promise, promises[index].state != .pending {
        complain("\(who) promise \(index) is settled")
      }
      if let others = wait.members, others.allSatisfy(\.hasEnded) {
        complain("\(who) they have ended")
      }
      for index in wait.receives {
        if channels[index].channel.count > 0 { complain("\(who) channel \(index) has a value") }
        if channels[index].isClosed { complain("\(who) channel \(index) is closed") }
        for other in waiting where other !== member && other.wait?.sends.contains(index) == true {
          complain("\(who) \(other.name) wants to send to channel \(index)")
        }
      }
      for index in wait.sends {
        let model = channels[index]
        if model.channel.count < model.plan.limit { complain("\(who) channel \(index) has room") }
        if model.isClosed { complain("\(who) channel \(index) is closed") }
        if model.drops { complain("\(who) channel \(index) drops what does not fit") }
      }
    }
  }

  /// At the end: takes out what is kept, and looks where every value is.
  private func settleAccounts(of model: ChannelModel, _ index: Int) {
    var left: [Int] = []
    while case .received(let parcel) = model.channel.receiveIfReady() {
      receive(parcel.number, from: index, began: tick(), isOrdered: true)
      left.append(parcel.number)
    }
    if model.drops, left != model.kept {
      complain("channel \(index) kept \(left), not \(model.kept)")
    }
    model.receipts.sort { $0.began < $1.began }
    for (one, next) in zip(model.receipts, model.receipts.dropFirst())
    where parcels[one.number].offeredAt >= parcels[next.number].offeredAt {
      complain("channel \(index): value \(next.number) overtook \(one.number)")
    }
    for (number, record) in parcels.enumerated() where record.channel == index {
      let expected: Int
      switch record.fate {
      case .offered:
        complain("the call that sent value \(number) never returned")
        continue
      case .sent: expected = 1
      case .refused, .dropped: expected = 0
      }
      if record.receipts != expected {
        complain("value \(number), \(record.fate), was received \(record.receipts) times")
      }
    }
  }

  // MARK: - Members

  func enlist(isStubborn: Bool) -> FuzzMember {
    let member = FuzzMember(members.count, isStubborn: isStubborn)
    members.append(member)
    return member
  }

  func watch(_ member: FuzzMember, _ coroutine: Coroutine) {
    member.handle = coroutine
    coroutine.onFinish {
      member.hasEnded = true
      member.wait = nil
    }
  }

  func root(_ index: Int) -> FuzzMember { roots[index] }

  func cancel(_ member: FuzzMember) {
    guard !member.hasEnded else { return }
    _ = tick()
    letTimePass()
    member.cancel()
    member.handle?.cancel()
  }

  /// What a member does from beginning to end.
  func run(_ member: FuzzMember, _ steps: [FuzzStep]) {
    do {
      try perform(steps, member)
    } catch is CancellationError {
      // It was told to stop, and has been asked for the reason.
    } catch {
      complain("\(member.name) failed: \(error)")
    }
    if !member.blocks.isEmpty { complain("\(member.name) did not leave its blocks") }
  }

  func perform(_ steps: [FuzzStep], _ member: FuzzMember) throws {
    for step in steps {
      guard fuel > 0 else { return }
      fuel -= 1
      calls += 1
      do {
        try perform(step, member)
      } catch is CancellationError where member.isStubborn {
        continue
      }
    }
  }

  // MARK: - What calls have in common

  var now: Int64 { CoroutineClock.nanoseconds }

  /// Notes which deadlines have passed: before anything else is noted at a new time.
  func letTimePass() {
    for member in members { member.timePasses(to: now) }
  }

  func tick() -> Int {
    ticks += 1
    return ticks
  }

  func freshNumber() -> Int {
    nextOutcome += 1
    return nextOutcome
  }

  func complain(_ text: String) {
    // One is enough; some more may help.
    if complaints.count < 20 { complaints.append(text) }
  }

  /// Makes a call that may wait, and checks what every such call must do (rule 2).
  ///
  /// - Parameters:
  ///   - member: Who calls.
  ///   - wait: What it waits for, if it does.
  ///   - isParkPoint: It may wait at all; else it is deaf to cancellation.
  ///   - isInstant: It has no reason to wait.
  ///   - isLoose: It may be cancelled through a shield.
  ///   - call: The call.
  /// - Returns: What the call returns.
  /// - Throws: What the call throws.
  func park<Result>(
    _ member: FuzzMember,
    _ wait: FuzzWait,
    isParkPoint: Bool = true,
    isInstant: Bool = false,
    isLoose: Bool = false,
    _ call: () throws -> Result
  ) throws -> Result {
    letTimePass()
    let wasCancelled = Coroutine.isCancelled
    if member.mustBeCancelled, !wasCancelled {
      complain("\(member.name) does not know in \(wait.operation) that it is cancelled")
    }
    if wasCancelled, !member.mustBeCancelled, program.ending != .abandon {
      complain("\(member.name) is cancelled in \(wait.operation) without a reason")
    }
    let began = (tick(), now)
    func checkThatNobodyRan() {
      if (ticks, now) != began {
        complain("\(member.name) waited in \(wait.operation) for nothing")
      }
    }
    member.wait = wait
    defer { member.wait = nil }
    do {
      let result = try call()
      if isParkPoint, wasCancelled {
        complain("\(member.name) was cancelled, and \(wait.operation) went on")
      }
      if isInstant { checkThatNobodyRan() }
      return result
    } catch let error as CancellationError {
      if !isParkPoint { complain("\(wait.operation) never waits, and was cancelled") }
      if wasCancelled { checkThatNobodyRan() }
      letTimePass()
      if !(isLoose ? member.mayBeCancelled : member.mustBeCancelled) {
        unexplained.append(member.name)
      }
      throw error
    }
  }

  // MARK: - Values

  /// A new value for a channel.
  func offer(to index: Int) -> Parcel {
    let number = parcels.count
    parcels.append(ParcelRecord(channel: index, offeredAt: tick()))
    return Parcel(number, census)
  }

  /// A call said what became of a value.
  func conclude(_ number: Int, _ fate: ParcelRecord.Fate) {
    if parcels[number].fate != .offered {
      complain("value \(number) is \(parcels[number].fate), and now \(fate) as well")
    }
    parcels[number].fate = fate
  }

  /// Somebody has received a value.
  ///
  /// - Parameters:
  ///   - number: The value.
  ///   - index: From where.
  ///   - began: When the call began.
  ///   - isOrdered: It is known when the call began.
  func receive(_ number: Int, from index: Int, began: Int, isOrdered: Bool) {
    if parcels[number].channel != index { complain("value \(number) came out of channel \(index)") }
    parcels[number].receipts += 1
    if isOrdered { channels[index].receipts.append((began, number)) }
  }

  /// A channel that drops took a value.
  ///
  /// Called right after the call, in which nobody else ran.
  func keep(_ number: Int, in index: Int) {
    let model = channels[index]
    guard model.drops else { return conclude(number, .sent) }
    if model.kept.count == model.plan.limit {
      if model.plan.policy == .dropNewest { return conclude(number, .dropped) }
      conclude(number, .sent)
      parcels[model.kept.removeFirst()].fate = .dropped
      model.kept.append(number)
    } else {
      conclude(number, .sent)
      // Else a waiting receiver has it.
      if model.channel.count > model.kept.count { model.kept.append(number) }
    }
    checkCount(of: index)
  }

  /// A channel that drops gave a value out; to a receiver that had no need to wait.
  func unkeep(_ number: Int, from index: Int) {
    let model = channels[index]
    guard model.drops else { return }
    let expected = model.kept.isEmpty ? nil : model.kept.removeFirst()
    if expected != number { complain("channel \(index) gave \(number), not \(expected ?? -1)") }
    checkCount(of: index)
  }

  func checkCount(of index: Int) {
    let model = channels[index]
    let count = model.channel.count
    if count > model.plan.limit { complain("channel \(index) keeps \(count) values") }
    if model.drops, count != model.kept.count {
      complain("channel \(index) keeps \(count) values, not \(model.kept.count)")
    }
    if model.channel.isEmpty != (count == 0) { complain("channel \(index) is and is not empty") }
    if model.channel.isClosed != model.isClosed {
      complain("channel \(index) is wrong about closing")
    }
  }

  func close(_ index: Int) {
    _ = tick()
    channels[index].isClosed = true
    channels[index].channel.close()
    checkCount(of: index)
  }
}
