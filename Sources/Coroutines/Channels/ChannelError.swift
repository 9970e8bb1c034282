// SPDX-License-Identifier: Apache-2.0

/// Why a channel did not carry a value.
public struct ChannelError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case closed
  }

  private let kind: Kind
  private let subject: Subject

  /// The channel; an enumeration, so that an error about one without a name is copied without counting references.
  private enum Subject: Sendable {
    case unknown
    case nameless(SourceSite)
    case named(String, SourceSite)
  }

  /// Two errors are equal when they are of the same kind, whatever channel they are about.
  public static func == (one: ChannelError, other: ChannelError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// The channel is closed: a send is refused; a receive finds nothing left.
  public static let closed = ChannelError(kind: .closed, subject: .unknown)

  fileprivate static func closed(_ name: String?, _ site: SourceSite) -> ChannelError {
    ChannelError(kind: .closed, subject: name.map { .named($0, site) } ?? .nameless(site))
  }

  /// What happened, to what, and what to do.
  public var description: String {
    let channel =
      switch subject {
      case .unknown: "The channel"
      case .nameless(let site): "The channel made at \(site)"
      case .named(let name, let site): "The channel \"\(name)\" made at \(site)"
      }
    return switch kind {
    case .closed:
      "\(channel) is closed. Senders: close a channel only after the last send. Receivers: `for value in "
        + "channel` ends by itself when the channel is closed and empty; in a `select`, say what to do then with "
        + "`Receive(from:whenClosed:)`."
    }
  }
}

extension Channel {
  /// Says that this channel is closed.
  ///
  /// A function of its own, to keep it out of the way of calls that succeed.
  @usableFromInline @inline(never)
  func closedError() -> ChannelError { .closed(name, creationSite) }
}

/// Lets `catch ChannelError.closed` be written.
extension ChannelError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: ChannelError, error: any Error) -> Bool {
    (error as? ChannelError) == pattern
  }
}

/// What became of a value that was sent without waiting.
public enum SendOutcome<Element> {
  /// A receiver has it, or the channel keeps it.
  case sent
  /// No room, and no receiver waits; here it is back.
  case full(Element)
  /// The channel is closed; here it is back.
  case closed(Element)

  /// True if the value was sent.
  public var isSent: Bool {
    if case .sent = self { true } else { false }
  }
}

/// What a receive without waiting found.
public enum ReceiveOutcome<Element> {
  /// A value.
  case received(Element)
  /// Nothing yet.
  case empty
  /// Nothing, and nothing will come.
  case closed

  /// The value, if there was one.
  public var value: Element? {
    if case .received(let value) = self { value } else { nil }
  }
}

extension SendOutcome: Sendable where Element: Sendable {}
extension SendOutcome: Equatable where Element: Equatable {}
extension ReceiveOutcome: Sendable where Element: Sendable {}
extension ReceiveOutcome: Equatable where Element: Equatable {}
