// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesRedis
import Glibc

/// Throughput and latency of a `RemoteChannel` beside plain hiredis that makes the same round trips, in turns.
struct Bench {
  let count: Int
  let disk: String
  let server: RedisServer
  /// How many work side by side, where there are several.
  let crowd = 8
  private let rounds = 3

  /// About a hundred bytes of JSON.
  struct Message: Codable, Sendable {
    var number = 0
    var text = String(repeating: "x", count: 80)
  }

  init(_ options: Options) {
    count = options.number("--count")
    disk = options.text("--disk", default: "always")
    var settings = RedisServer.Settings()
    settings.connections = crowd
    server = .ofEnvironment(settings)
  }

  func run() throws {
    let plain = Plain()
    if disk == "none" {
      plain.command(["CONFIG", "SET", "appendonly", "no"])
    } else {
      plain.command(["CONFIG", "SET", "appendfsync", disk])
    }
    print(
      "\(count) messages of 100 bytes, \(rounds) rounds in turns, medians; on the disk: \(disk)"
    )
    try compare(
      "send, one after another",
      channel(sending),
      plainly(sending),
      script: plainly(sendingByScript)
    )
    try compare("send, \(crowd) at a time", channel(sendingMany), plainly(sendingMany))
    try compare("receive and acknowledge, one", channel(receiving), plainly(receiving))
    try compare("receive and acknowledge, 100", channel(receivingMany), plainly(receivingMany))
    try compare("from a sender to one who waits", channel(handingOver), plainly(handingOver))
  }

  /// What one way takes: a time for each operation, and for all together.
  struct Times {
    var all = Duration.zero
    var each: [Duration] = []
  }

  private func channel(
    _ body: @escaping (RemoteChannel<Message>) throws -> Times
  ) -> () throws -> Times {
    {
      var options = RemoteChannelOptions()
      options.capacity = 10_000_000
      let channel = RemoteChannel<Message>("bench", on: server, options: options)
      try channel.remove()
      return try body(channel)
    }
  }

  private func plainly(_ body: @escaping (PlainStream) throws -> Times) -> () throws -> Times {
    {
      let stream = PlainStream()
      stream.reset()
      return try body(stream)
    }
  }

  private func compare(
    _ what: String,
    _ ours: () throws -> Times,
    _ plain: () throws -> Times,
    script: (() throws -> Times)? = nil
  ) throws {
    var (our, other, scripts): ([Times], [Times], [Times]) = ([], [], [])
    for _ in 0..<rounds {
      our.append(try ours())
      other.append(try plain())
      if let script { scripts.append(try script()) }
    }
    print(what)
    print("  RemoteChannel  \(line(our))")
    print("  plain hiredis  \(line(other))")
    if !scripts.isEmpty { print("    same script  \(line(scripts))") }
    fflush(nil)
  }

  private func line(_ rounds: [Times]) -> String {
    func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }
    let rate = median(rounds.map { Double(count) / seconds($0.all) })
    func percentile(_ share: Double) -> Double {
      median(
        rounds.map { round in
          let sorted = round.each.sorted()
          return seconds(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) * 1e6
        }
      )
    }
    return "\(Int(rate)) a second; \(Int(percentile(0.5))) µs, 99 %: \(Int(percentile(0.99))) µs"
  }

  private func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

extension Bench.Times {
  /// Times one operation.
  mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try body()
    each.append(ContinuousClock.now - start)
    return result
  }

  /// Times all that `body` does.
  static func of(_ body: (inout Bench.Times) throws -> Void) rethrows -> Bench.Times {
    var times = Bench.Times()
    let start = ContinuousClock.now
    try body(&times)
    times.all = ContinuousClock.now - start
    return times
  }
}
