// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A channel, and what is known about what it must do.
///
/// All runs on one thread, so a call takes its place among all others when it begins: values come out in
/// the order in which their sends began, to receives in the order in which those began.
final class ChannelModel {
  let plan: FuzzChannel
  let channel: Channel<Parcel>
  var isClosed = false
  /// What a channel that drops keeps, by number; of the others the channel itself tells how many.
  var kept: [Int] = []
  /// For each value received: when the receive began, and the value.
  var receipts: [(began: Int, number: Int)] = []

  init(_ plan: FuzzChannel, _ index: Int) {
    self.plan = plan
    channel = Channel(capacity: plan.capacity, name: "channel \(index)")
  }

  var drops: Bool { plan.policy != .wait }
}
