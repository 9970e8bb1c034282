// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// How far something has come, from 0 to 1: what the work behind a `ProgressPromise` reports to.
///
/// ```swift
/// let copy = ProgressPromise<Void> { progress in
///   for (n, file) in files.enumerated() {
///     try copyOne(file)
///     progress.report(Double(n + 1) / Double(files.count))
///   }
/// }
/// ```
///
/// The latest fraction wins, and only that one is kept: reporting never waits, from any thread, and costs
/// a lock. Fractions may go back, as when work is tried again.
///
/// A meter may have children with weights. Its fraction is then the weighted mean of theirs:
///
/// ```
///            parent                (3 × 0.5 + 1 × 1.0) / (3 + 1) = 0.625
///    weight 3 │ │ weight 1
///       0.5 ──┘ └── 1.0
/// ```
public final class ProgressMeter: @unchecked Sendable {
  // SAFETY: all variables are guarded by the point's lock.
  //
  // Invariants:
  // - M1. `version` grows with each change of `latest`; who has seen version v has missed nothing if it
  //   is still v. So a reader needs no buffer, and the newest fraction cannot be lost.
  // - M2. A meter tells its parents after it has left its lock, with a number that grows; a parent ignores
  //   what is older than what it knows. So two threads may tell in any order, and no two meters are locked
  //   at once.
  // - M3. Parents are held weakly and children not at all: a tree keeps nothing alive.

  /// A part of the whole, as far as this meter knows.
  private struct Part {
    let weight: Double
    var fraction = 0.0
    var news: UInt64 = 0
    /// Cancels what is behind the child.
    var cancel: (@Sendable () -> Void)?
  }

  /// A meter that this one is a part of.
  private struct Parent {
    weak var meter: ProgressMeter?
    let index: Int
  }

  private let point = WaitPoint()
  private var latest = 0.0
  private var version: UInt64 = 0
  /// Counts what the parents are told.
  private var news: UInt64 = 0
  private var isOver = false
  private var isCancelled = false
  private var isFulfilled = false
  /// Looks once more, right before the end.
  private var lastLook: (() -> Double)?
  /// Counts those who follow something; the latest one counts.
  private var followers = 0

  /// What this meter was told itself; nil before the first report.
  private var ownFraction: Double?
  private var parts: [Part] = []
  /// Of all parts: the sum of weights, that of weights times fractions, and how many are at 1.
  private var weights = 0.0
  private var done = 0.0
  private var completeParts = 0
  private var parents: [Parent] = []

  /// Held while a child is added, so that two that are added at once cannot close a ring.
  private static let linking = AllocatedLock()

  /// A meter at 0.
  public init() {}

  // MARK: - Reporting

  /// How far it has come: the latest fraction; 0 before the first.
  public var fraction: Double { point.lock.withLock { latest } }

  /// Says how far it has come.
  ///
  /// From any thread; never parks. Those who iterate become ready. On a meter with children, what is
  /// reported here counts as one more part, of weight 1.
  ///
  /// - Parameter fraction: From 0 to 1. What lies outside is moved to the nearer of the two; not-a-number
  ///   is ignored.
  /// - Returns: False if it was ignored: not a number, or the promise is settled.
  @discardableResult
  public func report(_ fraction: Double) -> Bool {
    guard !fraction.isNaN else { return false }
    return change { ownFraction = min(max(fraction, 0), 1) }
  }

  /// Makes another meter a part of this one.
  ///
  /// A meter may be a part of several, and is not kept alive by any.
  ///
  /// - Parameters:
  ///   - child: The other meter. One that this one is itself a part of stops the program.
  ///   - weight: How much it counts beside the other parts; above zero, and finite.
  public func add(_ child: ProgressMeter, weight: Double = 1) {
    add(child, weight, cancel: nil)
  }

  /// Makes the work of a promise a part of this.
  ///
  /// Once fulfilled it counts as done, whatever it has reported; rejected, as far as it came. If the
  /// promise that this meter belongs to is cancelled, then so is this one. It is not started, nor kept
  /// alive.
  ///
  /// - Parameters:
  ///   - child: The promise.
  ///   - weight: How much it counts beside the other parts; above zero, and finite.
  public func add<Value>(_ child: ProgressPromise<Value>, weight: Double = 1) {
    add(child.meter, weight) { [weak promise = child.promise] in promise?.cancel() }
  }

  private func add(_ child: ProgressMeter, _ weight: Double, cancel: (@Sendable () -> Void)?) {
    demand(
      weight > 0 && weight.isFinite,
      "A part of weight \(weight) was added to a progress; weights are finite and above zero."
    )
    let isCancelled = Self.linking.withLock {
      demand(
        !isPart(of: child),
        "A progress was added to one of its own parts, which would never end. Add the part only."
      )
      let (index, isCancelled): (Int?, Bool) = point.lock.withLock {
        guard !isOver else { return (nil, self.isCancelled) }
        parts.append(Part(weight: weight, cancel: cancel))
        weights += weight
        return (parts.count - 1, self.isCancelled)
      }
      if let index {
        child.point.lock.withLock { child.parents.append(Parent(meter: self, index: index)) }
      }
      return isCancelled
    }
    if isCancelled { cancel?() }
    child.tellParents()
  }

  /// True if `other` is this meter or, by any way, one that this one is a part of.
  private func isPart(of other: ProgressMeter) -> Bool {
    if self === other { return true }
    let parents = point.lock.withLock { self.parents }
    return parents.contains { $0.meter?.isPart(of: other) ?? false }
  }

  /// Makes a change and, if the fraction is another one then, tells everybody.
  ///
  /// - Returns: False if it is over.
  private func change(_ body: () -> Void) -> Bool {
    var wakes = ResumeList()
    let (isAlive, hasNews) = point.lock.withLock {
      guard !isOver else { return (false, false) }
      body()
      let fraction = composed
      guard version == 0 || fraction != latest else { return (true, false) }
      latest = fraction
      version += 1
      point.claimAll(&wakes)
      return (true, true)
    }
    wakes.resumeAll()
    if hasNews { tellParents() }
    return isAlive
  }

  /// The fraction of the whole, under the lock.
  private var composed: Double {
    if parts.isEmpty { return ownFraction ?? 0 }
    // Sums of fractions are not exact; the end has to be.
    if completeParts == parts.count, (ownFraction ?? 1) == 1 { return 1 }
    let ownWeight = ownFraction == nil ? 0.0 : 1.0
    return min(max((done + (ownFraction ?? 0)) / (weights + ownWeight), 0), 1)
  }

  /// Tells the meters that this one is a part of (M2).
  private func tellParents() {
    let (parents, fraction, news) = point.lock.withLock {
      self.news += 1
      return (self.parents, isFulfilled ? 1 : latest, self.news)
    }
    for parent in parents { parent.meter?.take(fraction, news, ofPart: parent.index) }
  }

  /// Takes what a part tells.
  private func take(_ fraction: Double, _ news: UInt64, ofPart index: Int) {
    _ = change {
      guard news > parts[index].news else { return }
      let old = parts[index].fraction
      parts[index].news = news
      parts[index].fraction = fraction
      done += parts[index].weight * (fraction - old)
      completeParts += (fraction == 1 ? 1 : 0) - (old == 1 ? 1 : 0)
    }
  }

  // MARK: - The end

  /// The promise is settled: ends all iterations, after what they have not seen yet.
  func finish(isFulfilled: Bool) {
    let look = point.lock.withLock {
      defer { lastLook = nil }
      return lastLook
    }
    if let look { report(look()) }
    var wakes = ResumeList()
    let parts: [Part] = point.lock.withLock {
      isOver = true
      self.isFulfilled = isFulfilled
      point.claimAll(&wakes)
      defer { self.parts = [] }
      return self.parts
    }
    wakes.resumeAll()
    tellParents()
    // What the closures hold on to is released out here.
    withExtendedLifetime(parts) {}
  }

  /// The promise was cancelled: so are those behind the parts.
  func cancelParts() {
    let parts = point.lock.withLock {
      isCancelled = true
      return self.parts
    }
    for part in parts { part.cancel?() }
  }

  /// Begins to follow something by looking at it now and then, in place of what was followed before.
  ///
  /// - Parameter look: What to ask for the fraction once more before the end, so that the last one is not
  ///   lost. Called under no lock, by whoever settles the promise.
  /// - Returns: The number of this follower.
  package func beginToFollow(_ look: @escaping () -> Double) -> Int {
    let (old, number) = point.lock.withLock {
      defer { if !isOver { lastLook = look } }
      followers += 1
      return (lastLook, followers)
    }
    withExtendedLifetime(old) {}
    return number
  }

  /// Reports what a follower saw.
  ///
  /// - Returns: False if its work is over: another one has taken its place, or the promise is settled.
  package func report(_ fraction: Double, follower number: Int) -> Bool {
    guard point.lock.withLock({ number == followers && !isOver }) else { return false }
    report(fraction)
    return true
  }

  /// How a meter's promise stands.
  package enum State: Sendable {
    case pending
    case fulfilled
    case cancelled
    case rejected
  }

  /// How the promise stands, as far as the meter has been told.
  package var state: State {
    point.lock.withLock {
      guard isOver else { return .pending }
      return isFulfilled ? .fulfilled : isCancelled ? .cancelled : .rejected
    }
  }

  // MARK: - Looking

  /// What a reader has seen.
  package struct Position: Sendable {
    fileprivate var version: UInt64 = 0

    /// Nothing yet.
    package init() {}
  }

  /// Parks until there is a fraction that the reader has not seen; nil once there will be none.
  package func next(after position: inout Position) throws -> Double? {
    let seen = position.version
    try Parking.wait(
      "The iteration of a progress",
      on: point.queue,
      point.lock,
      unless: { version > seen || isOver }
    )
    return take(after: &position)
  }

  /// Suspends a task until there is a fraction that the reader has not seen.
  func nextInTask(after position: inout Position) async throws -> Double? {
    let seen = position.version
    try await TaskWait.wait(
      on: point.queue,
      point.lock,
      unless: { self.version > seen || self.isOver }
    )
    return take(after: &position)
  }

  /// The latest fraction, if the reader has not seen it.
  private func take(after position: inout Position) -> Double? {
    point.lock.withLock {
      guard version > position.version else { return nil }
      position.version = version
      return latest
    }
  }
}
