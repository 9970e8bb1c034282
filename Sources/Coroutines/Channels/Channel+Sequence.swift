// SPDX-License-Identifier: Apache-2.0

extension Channel: Sequence {
  /// Receives until the channel is closed and empty.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let channel: Channel
    /// Of the end that it was made by: that end may be gone before the iterator is.
    @usableFromInline let right: ChannelRight<Element>?

    @inlinable
    init(_ channel: Channel, _ right: ChannelRight<Element>? = nil) {
      self.channel = channel
      self.right = right
    }

    /// Receives a value; parks while there is none.
    ///
    /// *Cancellation:* ends the sequence, since a sequence cannot throw: the next park point, or
    /// `Coroutine.checkCancellation()`, throws. Outside a coroutine it stops the program with a message.
    ///
    /// - Returns: The oldest value; nil once the channel is closed and empty, or in cancelled code.
    @inlinable @inline(__always)
    public mutating func next() -> Element? {
      defer { withExtendedLifetime(right) {} }
      do {
        return try channel.receiveForIteration()
      } catch let error as CoroutineError {
        fatalError("for … in a channel: \(error)")
      } catch {
        return nil
      }
    }
  }

  /// An iterator that receives.
  ///
  /// Several may be in use at once: each value goes to one of them.
  @inlinable
  public func makeIterator() -> Iterator {
    Iterator(self)
  }

  /// `receive` under a name that the compiler allows in places it cannot see to be synchronous.
  @inlinable @inline(__always)
  func receiveForIteration() throws -> Element { try receive() }
}
