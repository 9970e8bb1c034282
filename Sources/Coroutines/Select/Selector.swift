// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A `select` that is put together while the program runs: of any number of clauses, and for any number of times.
///
/// ```swift
/// var selector = Selector<Reading?>()
/// for sensor in sensors {
///   selector.receive(from: sensor, whenClosed: { nil }) { $0 }
/// }
/// while !selector.isEmpty {
///   if let reading = try selector.select() {
///     show(reading)
///   } else {
///     selector.removeWinner()
///   }
/// }
/// ```
///
/// `select` in text is for clauses that are known when the program is written. This is for an array of channels, for clauses that
/// come and go, and for loops that wait for the same things again and again: the clauses are made once.
///
/// A selector holds its channels. It belongs to one coroutine at a time; it cannot be copied, and nobody can change it
/// while it waits.
///
/// Cost: two to five allocations for each clause when it is added. `select()` allocates nothing, except when it parks with more
/// than eight clauses: once. It counts no references of channels.
public struct Selector<Result>: ~Copyable {
  @usableFromInline var clauses: [SelectorClause<Result>] = []
  // Beside the array, because to ask that would look its type up.

  /// Number of clauses.
  public private(set) var count = 0
  /// What the untyped part of a select knows of the clauses, in their order, and room for some more.
  private var entries: UnsafeMutablePointer<SelectEntry>
  private var capacity = 8
  /// The clauses that send.
  @usableFromInline var senders: [SelectorSender] = []
  /// The `default` clause; -1 if there is none.
  private var fallback = -1

  /// The place, among the clauses that are left, of the one that won last; nil before that, and when it has been removed.
  public private(set) var winner: Int?

  /// A selector without clauses.
  public init() {
    entries = .allocate(capacity: capacity)
  }

  deinit { entries.deallocate() }

  /// There are no clauses.
  public var isEmpty: Bool { count == 0 }

  // MARK: - Clauses

  /// Adds a clause that receives.
  ///
  /// - Parameters:
  ///   - channel: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty; if left out, the select throws `ChannelError.closed`.
  ///     The clause stays: a channel that is closed is ready each time, so remove it (`removeWinner()`).
  ///   - action: What to do with the value. Runs after the select is decided; may park.
  @inlinable
  public mutating func receive<Element>(
    from channel: Channel<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    receive(channel, nil, whenClosed, action)
  }

  /// Adds a clause that receives from a counted end, which counts as there while the clause is.
  ///
  /// - Parameters:
  ///   - end: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty.
  ///   - action: What to do with the value.
  @inlinable
  public mutating func receive<Element>(
    from end: ReceiveEnd<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    receive(end.channel, end.right, whenClosed, action)
  }

  @inlinable
  mutating func receive<Element>(
    _ channel: Channel<Element>,
    _ right: ChannelRight<Element>?,
    _ whenClosed: (() throws -> Result)?,
    _ action: @escaping (Element) throws -> Result
  ) {
    let slot = UnsafeMutablePointer<Element>.allocate(capacity: 1)
    let clause = SelectorClause<Result>(slot) { isClosed in
      try withExtendedLifetime(right) {
        if isClosed {
          guard let whenClosed else { throw channel.closedError() }
          return try whenClosed()
        }
        // SAFETY: the clause has won with a value, which was moved into its slot.
        return try action(slot.move())
      }
    }
    add(clause, .receive, channel.core)
  }

  /// Adds a clause that sends.
  ///
  /// - Parameters:
  ///   - element: The value; asked for anew when a select begins, and released if another clause wins.
  ///   - channel: Where to. If it is closed, the select throws `ChannelError.closed`.
  ///   - action: What to do once it is sent. Runs after the select is decided; may park.
  @inlinable
  public mutating func send<Element>(
    _ element: @autoclosure @escaping () -> Element,
    to channel: Channel<Element>,
    _ action: @escaping () throws -> Result
  ) {
    send(element, channel, nil, action)
  }

  /// Adds a clause that sends to a counted end, which counts as there while the clause is.
  ///
  /// - Parameters:
  ///   - element: The value; asked for anew when a select begins.
  ///   - end: Where to.
  ///   - action: What to do once it is sent.
  @inlinable
  public mutating func send<Element>(
    _ element: @autoclosure @escaping () -> Element,
    to end: SendEnd<Element>,
    _ action: @escaping () throws -> Result
  ) {
    send(element, end.channel, end.right, action)
  }

  @inlinable
  mutating func send<Element>(
    _ element: @escaping () -> Element,
    _ channel: Channel<Element>,
    _ right: ChannelRight<Element>?,
    _ action: @escaping () throws -> Result
  ) {
    let slot = UnsafeMutablePointer<Element>.allocate(capacity: 1)
    let clause = SelectorClause<Result>(slot) { isClosed in
      try withExtendedLifetime(right) {
        if isClosed { throw channel.closedError() }
        return try action()
      }
    }
    senders.append(
      SelectorSender(
        count,
        fill: { slot.initialize(to: element()) },
        // SAFETY: called once after each `fill` whose value was not taken (`decide`).
        empty: { slot.deinitialize(count: 1) }
      )
    )
    add(clause, .send, channel.core)
  }

  /// Adds a clause that wins a select in which nothing else has happened for a time.
  ///
  /// - Parameters:
  ///   - delay: How long, from when the select begins, by the clock of the coroutine's scheduler. Zero or less: it wins
  ///     unless another clause is ready at once.
  ///   - action: What to do then; may park.
  public mutating func after(_ delay: Duration, _ action: @escaping () throws -> Result) {
    addPause(.after, delay, action)
  }

  /// Adds the clause that wins when no other is ready: with it `select()` never parks.
  ///
  /// - Precondition: There is none yet.
  /// - Parameter action: What to do then.
  public mutating func `default`(_ action: @escaping () throws -> Result) {
    demand(
      fallback < 0,
      "A Selector was given a second default clause, of which only one could win. Leave in one of them."
    )
    fallback = count
    addPause(.otherwise, .zero, action)
  }

  private mutating func addPause(
    _ kind: SelectEntry.Kind,
    _ delay: Duration,
    _ action: @escaping () throws -> Result
  ) {
    let slot = UnsafeMutablePointer<Duration>.allocate(capacity: 1)
    slot.initialize(to: delay)
    add(SelectorClause(slot) { _ in try action() }, kind, nil)
  }

  /// Removes a clause; those after it move up.
  ///
  /// Takes time in proportion to the number of clauses.
  ///
  /// - Parameter index: Its place, in the order in which clauses were added.
  public mutating func remove(at index: Int) {
    demand(
      index >= 0 && index < count,
      "Clause \(index) of a Selector was to be removed, which has \(count); the first of them is clause 0."
    )
    let removed = clauses.remove(at: index)
    count -= 1
    for later in index..<count { entries[later] = entries[later + 1] }
    senders.removeAll { $0.index == index }
    for later in senders.indices where senders[later].index > index { senders[later].index -= 1 }
    if fallback >= index { fallback = fallback == index ? -1 : fallback - 1 }
    if let winner, winner >= index { self.winner = winner == index ? nil : winner - 1 }
    withExtendedLifetime(removed) {}
  }

  /// Removes the clause that won last: after its channel was closed, for instance.
  ///
  /// - Precondition: One has won, and is still there.
  public mutating func removeWinner() {
    demand(
      winner != nil,
      "The winner of a Selector was to be removed, but no clause has won, or it has been removed before."
    )
    if let winner { remove(at: winner) }
  }

  @usableFromInline
  mutating func add(
    _ clause: SelectorClause<Result>,
    _ kind: SelectEntry.Kind,
    _ core: UnsafeMutablePointer<ChannelCore>?
  ) {
    if count == capacity {
      let more = UnsafeMutablePointer<SelectEntry>.allocate(capacity: capacity * 2)
      more.update(from: entries, count: capacity)
      entries.deallocate()
      entries = more
      capacity *= 2
    }
    (entries + count).initialize(to: SelectEntry(kind, core, clause.slot))
    clauses.append(clause)
    count += 1
  }

  // MARK: - Selecting

  /// Waits until a clause is ready, and does exactly one of them.
  ///
  /// As `select(_:)`: if several clauses are ready, one is chosen at random, each with the same chance; the others are as if
  /// they had never been there; the winner's action runs after that. With a `default` clause this never parks, may be called
  /// from any thread, and cancellation does not concern it.
  ///
  /// *Cancellation* without one: it throws, and no clause takes effect.
  ///
  /// - Precondition: There is a clause.
  /// - Returns: What the winner's action returns.
  /// - Throws: What that action throws; `ChannelError.closed` if the winner's channel is closed; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public mutating func select() throws -> Result {
    let (chosen, isClosed) = try decide()
    return try clauses[chosen].finish(isClosed)
  }

  /// Waits for a winner, and releases what the others would have sent.
  @usableFromInline
  mutating func decide() throws -> (chosen: Int, isClosed: Bool) {
    demand(
      !isEmpty,
      "A Selector without clauses was to select: it would wait for ever. Add a clause, or end the loop when it `isEmpty`."
    )
    winner = nil
    for sender in senders { sender.fill() }
    let chosen: Int
    do {
      // SAFETY: nobody else has the entries, and nothing can be added or removed while this has the selector.
      chosen = try Selection.decide(entries, count, fallback: fallback)
    } catch {
      for sender in senders { sender.empty() }
      throw error
    }
    winner = chosen
    let isClosed = entries[chosen].isClosed
    // A sender that wins has nothing left, unless the channel would not have it.
    let isLeftOver = entries[chosen].isLeftOver || isClosed
    entries[chosen].isClosed = false
    entries[chosen].isLeftOver = false
    for sender in senders where sender.index != chosen || isLeftOver { sender.empty() }
    return (chosen, isClosed)
  }
}
