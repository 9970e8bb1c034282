// SPDX-License-Identifier: Apache-2.0

public import Coroutines

extension RemoteChannel {
  /// Runs `body` with a channel of this process that the deliveries come to: for `select`, and for loops.
  ///
  /// ```swift
  /// try jobs.withDeliveries { deliveries in
  ///   var isOver = false
  ///   while !isOver {
  ///     try select {
  ///       Receive(from: deliveries) { job in
  ///         try work(on: job.value)
  ///         try job.acknowledge()
  ///       }
  ///       Receive(from: stop) { isOver = true }
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// A coroutine fetches them meanwhile. When the remote channel is closed and done, the local one is closed; when
  /// `body` has ended, or has closed the local one, what nobody has taken out of it is given back. What was taken
  /// out is to be acknowledged, as ever; what is fetched and waits here counts as delivered already, and is
  /// delivered again elsewhere if it waits for longer than `redeliverAfter`.
  ///
  /// *Cancellation:* of the caller: of `body` and of the fetching, too; what was fetched is given back.
  ///
  /// - Parameters:
  ///   - prefetch: The most that is fetched and not yet taken; one or more. More save round trips, and keep values
  ///     from other receivers.
  ///   - body: What to do; gets the local channel. May park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; what the fetching throws: then `body` is cancelled.
  @available(*, noasync)
  public func withDeliveries<Result>(
    prefetch: Int = 1,
    _ body: (Channel<Delivery>) throws -> Result
  ) throws -> Result {
    let prefetch = max(1, prefetch)
    // The last of them is in the hand of the coroutine that fetches.
    let local = Channel<Delivery>(capacity: prefetch - 1, name: name)
    return try withCoroutineScope { scope in
      let fetching = scope.launch(name: "fetching from \(name)") {
        try self.fetch(into: local, prefetch)
      }
      defer {
        local.close()
        fetching.cancel()
      }
      return try body(local)
    }
  }

  private func fetch(into local: Channel<Delivery>, _ prefetch: Int) throws {
    var inHand: ArraySlice<Delivery> = []
    defer {
      local.close()
      while let delivery = local.receiveIfReady().value { inHand.append(delivery) }
      giveBack(inHand)
    }
    while true {
      do {
        inHand = try receive(upTo: max(1, prefetch - local.count))[...]
        while let next = inHand.first {
          try local.send(next)
          inHand.removeFirst()
        }
      } catch ChannelError.closed {
        // This end, or the other: there is nothing more to do here.
        return
      }
    }
  }

  /// If this cannot be done, they are delivered again all the same, only later.
  private func giveBack(_ deliveries: ArraySlice<Delivery>) {
    guard !deliveries.isEmpty else { return }
    _ = try? withCancellationShield {
      try withTimeout(server.settings.commandTimeout) {
        for delivery in deliveries { try delivery.giveBack() }
      }
    }
  }
}
