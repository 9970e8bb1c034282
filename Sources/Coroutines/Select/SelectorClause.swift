// SPDX-License-Identifier: Apache-2.0

/// A clause of a `Selector`, with memory for its value.
class SelectorClause<Result> {
  let kind: SelectEntry.Kind
  /// The channel's; the subclass holds the channel.
  let core: UnsafeMutablePointer<ChannelCore>?
  let slot: UnsafeMutableRawPointer

  init(
    _ kind: SelectEntry.Kind,
    _ core: UnsafeMutablePointer<ChannelCore>?,
    _ slot: UnsafeMutableRawPointer
  ) {
    self.kind = kind
    self.core = core
    self.slot = slot
  }

  deinit { slot.deallocate() }

  /// Puts the value to send into the slot; called before each select.
  func fill() {}

  /// Releases what is in the slot, if there is something.
  func empty() {}

  /// Does what it is to do when it has won.
  func finish(isClosed: Bool) throws -> Result { fatalError("SelectorClause is abstract") }
}

/// Receives.
final class SelectorReceive<Element, Result>: SelectorClause<Result> {
  private let channel: Channel<Element>
  private let right: ChannelRight<Element>?
  private let whenClosed: (() throws -> Result)?
  private let action: (Element) throws -> Result

  init(
    _ channel: Channel<Element>,
    _ right: ChannelRight<Element>?,
    _ whenClosed: (() throws -> Result)?,
    _ action: @escaping (Element) throws -> Result
  ) {
    self.channel = channel
    self.right = right
    self.whenClosed = whenClosed
    self.action = action
    super.init(.receive, channel.core, UnsafeMutablePointer<Element>.allocate(capacity: 1))
  }

  override func finish(isClosed: Bool) throws -> Result {
    if isClosed {
      guard let whenClosed else { throw channel.closedError() }
      return try whenClosed()
    }
    // SAFETY: the clause has won with a value, which was moved into its slot.
    return try action(slot.assumingMemoryBound(to: Element.self).move())
  }
}

/// Sends.
final class SelectorSend<Element, Result>: SelectorClause<Result> {
  private let channel: Channel<Element>
  private let right: ChannelRight<Element>?
  private let element: () -> Element
  private let action: () throws -> Result

  init(
    _ element: @escaping () -> Element,
    _ channel: Channel<Element>,
    _ right: ChannelRight<Element>?,
    _ action: @escaping () throws -> Result
  ) {
    self.channel = channel
    self.right = right
    self.element = element
    self.action = action
    super.init(.send, channel.core, UnsafeMutablePointer<Element>.allocate(capacity: 1))
  }

  override func fill() {
    slot.initializeMemory(as: Element.self, to: element())
  }

  override func empty() {
    // SAFETY: called once after each `fill` whose value was not taken.
    slot.assumingMemoryBound(to: Element.self).deinitialize(count: 1)
  }

  override func finish(isClosed: Bool) throws -> Result {
    if isClosed { throw channel.closedError() }
    return try action()
  }
}

/// Waits for a time, or for nothing.
final class SelectorPause<Result>: SelectorClause<Result> {
  private let action: () throws -> Result

  // Without a delay it is a default clause.
  init(_ delay: Duration?, _ action: @escaping () throws -> Result) {
    self.action = action
    let slot = UnsafeMutablePointer<Duration>.allocate(capacity: 1)
    slot.initialize(to: delay ?? .zero)
    super.init(delay == nil ? .otherwise : .after, nil, slot)
  }

  override func finish(isClosed: Bool) throws -> Result { try action() }
}
