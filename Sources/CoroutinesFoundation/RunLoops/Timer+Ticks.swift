// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines
import Dispatch
public import Foundation

extension Timer: CoroutineNamespaceProviding {}

extension CoroutineNamespace where Base: Timer {
  /// A stream of the times at which a repeating timer fires; does not park.
  ///
  /// ```swift
  /// for time in Timer.co.ticks(every: .seconds(1)) { print(time) }
  /// ```
  ///
  /// The first tick comes after one interval. A receiver that is late finds one tick, the last, unless the
  /// capacity says otherwise. The timer is invalidated when the stream is closed or dropped.
  ///
  /// - Parameters:
  ///   - interval: From tick to tick; more than 0.
  ///   - tolerance: How much later the system may let it fire to save energy.
  ///   - runLoop: The run loop that the timer is added to, in the common modes; somebody must run it. If
  ///     left out, a dispatch timer is used, which needs none.
  ///   - capacity: How many ticks are kept for a slow receiver, and what happens to more.
  /// - Returns: The stream.
  public static func ticks(
    every interval: Duration,
    tolerance: Duration = .zero,
    on runLoop: RunLoop? = nil,
    capacity: ChannelCapacity = .droppingOldest(1)
  ) -> EventStream<Date> {
    demand(interval > .zero, "ticks(every: \(interval)): it must be more than 0.")
    let stream = EventStream<Date>(capacity: capacity)
    let sender = stream.sender
    if let runLoop {
      let timer = Timer(timeInterval: interval.inSeconds, repeats: true) { timer in
        sender.sendIfReady(Date())
        if sender.isClosed { timer.invalidate() }
      }
      timer.tolerance = tolerance.inSeconds
      runLoop.add(timer, forMode: .common)
      stream.onRelease { timer.invalidate() }
    } else {
      let source = DispatchSource.makeTimerSource()
      source.setEventHandler { sender.sendIfReady(Date()) }
      source.schedule(
        deadline: .now() + interval.inSeconds,
        repeating: interval.inSeconds,
        leeway: .nanoseconds(Int(tolerance.inSeconds * 1e9))
      )
      source.resume()
      stream.onRelease { source.cancel() }
    }
    return stream
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
