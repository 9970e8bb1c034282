// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next attempt: about twice as long each time, up to a limit.
struct BackOff: Sendable {
  private var ceiling: Duration
  private let limit: Duration

  init(first: Duration = .milliseconds(100), limit: Duration = .seconds(10)) {
    ceiling = first
    self.limit = limit
  }

  /// The next delay: half of the present one, and a random part of the other half, so that those who failed together
  /// do not come back together.
  mutating func next() -> Duration {
    defer { ceiling = min(ceiling * 2, limit) }
    return ceiling * Double.random(in: 0.5...1)
  }
}
