// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesRedis
import Glibc

@main
struct RedisChannel {
  static let usage = """
    usage: with-redis redis-channel MODE [OPTION VALUE...]

    The processes of scripts/check-integrations, which says how they play together:

      produce   --channel NAME --producer N --count N --senders N --ledger FILE
      work      --channel NAME --receivers N --milliseconds N --ledger FILE [--dies-after N]
                [--fault acknowledge-first]
      close     --channel NAME
      check     --channel NAME --ledgers DIRECTORY --killed PID
      answer    --mailbox NAME --milliseconds N
      ask       --mailbox NAME --count N
      close-mailbox  --mailbox NAME

    And alone, beside a server of their own:

      features  claims about each operation, checked
      bench     --count N [--disk none|everysec|always]  throughput and latency beside plain hiredis
    """

  static func main() {
    var words = CommandLine.arguments.dropFirst()
    guard let mode = words.popFirst(), mode != "--help", mode != "-h" else {
      print(usage)
      exit(0)
    }
    let options = Options(words)
    // A process that hangs is one that fails.
    _ = alarm(mode == "bench" ? 600 : 150)
    do {
      try runBlocking { try run(mode, options) }
    } catch {
      stop("redis-channel \(mode): \(error)")
    }
  }

  private static func run(_ mode: String, _ options: Options) throws {
    switch mode {
    case "produce": try Producer(options).run()
    case "work": try Worker(options).run()
    case "close": try RemoteChannel<Job>.shared(options).close()
    case "check": try Count(options).check()
    case "answer": try Answering.answer(options)
    case "ask": try Answering.ask(options)
    case "close-mailbox": try Answering.mailbox(options).close()
    case "features": try Features.check()
    case "bench": try Bench(options).run()
    default: stop("what is \(mode)?\n\(usage)", status: 2)
    }
  }
}

/// What is sent.
struct Job: Codable, Sendable, Hashable {
  let producer: Int
  let number: Int
}

extension RedisServer {
  /// The one that with-redis has started.
  static func ofEnvironment(_ settings: Settings = Settings()) -> RedisServer {
    guard let host = getenv("REDIS_HOST"), let port = getenv("REDIS_PORT").flatMap({ atoi($0) })
    else { stop("REDIS_HOST and REDIS_PORT are not set: run this under with-redis.") }
    return RedisServer(host: String(cString: host), port: Int(port), settings: settings)
  }
}

extension RemoteChannel<Job> {
  /// The one of the check, with little room and little patience, so that senders wait and what a dead
  /// process had in hand comes again soon.
  static func shared(_ options: Options) -> RemoteChannel<Job> {
    var settings = RemoteChannelOptions()
    settings.capacity = 200
    settings.redeliverAfter = .seconds(2)
    return RemoteChannel(options.text("--channel"), on: .ofEnvironment(), options: settings)
  }
}
