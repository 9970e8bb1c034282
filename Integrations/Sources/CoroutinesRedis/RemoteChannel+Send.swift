// SPDX-License-Identifier: Apache-2.0

public import Coroutines

extension RemoteChannel {
  /// For how long the server remembers the last send of a lane: far longer than any send is tried.
  private var remembering: Int { 24 * 3_600_000 }

  /// Sends a value; parks until it is in Redis, and while the channel is full.
  ///
  /// Nobody need receive. While the server is away it is tried again, for `retryTime`; a value whose first attempt
  /// had been carried out is not added twice.
  ///
  /// *Cancellation:* while it waits for room, or before the command is sent: the value has not been and will not be
  /// received. Once the command is sent, its answer is waited for, up to `commandTimeout`, and counts. Only if the
  /// connection is lost in that moment, it is not known whether the value was sent.
  ///
  /// Senders that wait for room ask again, up to every 100 ms; they are not served in order.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `RedisError`, whose `isOutcomeUnknown` says whether the value may have been
  ///   sent all the same; `CancellationError`; what encoding throws; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func send(_ element: Element) throws {
    let value = try JSON.encode(element)
    var backOff = BackOff(from: .milliseconds(2), to: .milliseconds(100))
    while true {
      switch try add(value) {
      case .sent: return
      case .full: try backOff.wait()
      case .closed: throw ChannelError.closed
      }
    }
  }

  /// Sends a value if there is room.
  ///
  /// Parks for the round trip, and while the server is away; never for room.
  ///
  /// *Cancellation:* as `send(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Returns: What has become of it.
  /// - Throws: `RedisError`; `CancellationError`; what encoding throws; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func sendIfReady(_ element: Element) throws -> SendOutcome<Element> {
    switch try add(JSON.encode(element)) {
    case .sent: .sent
    case .full: .full(element)
    case .closed: .closed(element)
    }
  }

  private enum Outcome: String {
    case sent, full, closed
  }

  private func add(_ value: [UInt8]) throws -> Outcome {
    var number: Int?
    let (capacity, kept): (Int, Int) =
      switch options.trimming {
      case .acknowledged: (options.capacity ?? 0, 0)
      case .newest(let count): (0, max(1, count))
      }
    return try server.perform("sending to \(self)") { connection, lane in
      // The same number in all attempts: this is how the server knows a value that it has.
      let attempted = number ?? lane.nextNumber()
      number = attempted
      let keys = [keys.stream, keys.closed, keys.lastSend(of: lane)]
      let reply = try connection.run(.send, keys: keys) { command in
        command.append(attempted)
        command.append(remembering)
        command.append(capacity)
        command.append(kept)
        command.append(value)
      }
      guard let outcome = reply.text.flatMap({ Outcome(rawValue: $0) }) else {
        throw connection.unexpected("sending")
      }
      return outcome
    }
  }
}
