// SPDX-License-Identifier: Apache-2.0

import CHiredis
import CoroutinesRedis
import Glibc
import Synchronization

/// A stream with a group, by blocking calls.
final class PlainStream {
  static let key = "plain:stream"
  private let connection = Plain()
  private let message = String(repeating: "x", count: 100)

  func reset() {
    connection.command(["DEL", Self.key])
    connection.command(["XGROUP", "CREATE", Self.key, "workers", "0", "MKSTREAM"])
  }

  func send() { connection.command(["XADD", Self.key, "*", "v", message]) }

  /// The script that `RemoteChannel.send` uses; its digest goes to `sendByScript`.
  func loadScript() -> String {
    guard let digest = connection.text(["SCRIPT", "LOAD", RedisScript.send.text]) else {
      stop("no script")
    }
    return digest
  }

  func sendByScript(_ digest: String, _ number: Int) {
    connection.command([
      "EVALSHA", digest, "3", Self.key, "plain:closed", "plain:sent", String(number), "86400000",
      "10000000", "0", message,
    ])
  }

  /// The ids of up to `limit` entries.
  func receive(upTo limit: Int) -> [String] {
    connection.command([
      "XREADGROUP", "GROUP", "workers", "me", "COUNT", String(limit), "BLOCK", "5000", "STREAMS",
      Self.key, ">",
    ]) { reply in
      guard let stream = reply.element?[0]?.pointee, let entries = stream.element?[1]?.pointee
      else { return [] }
      return (0..<entries.elements).compactMap { index in
        entries.element?[index]?.pointee.element?[0]?.pointee.str.map { String(cString: $0) }
      }
    }
  }

  /// Acknowledges and deletes, in one round trip.
  func acknowledge(_ ids: [String]) {
    connection.append(["XACK", Self.key, "workers"] + ids)
    connection.append(["XDEL", Self.key] + ids)
    connection.reply { _ in }
    connection.reply { _ in }
  }
}

/// What a thread is given, and gives back.
private final class Hand<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
}

extension Bench {
  func sending(_ stream: PlainStream) -> Times {
    .of { times in for _ in 0..<count { times.measure { stream.send() } } }
  }

  func sendingByScript(_ stream: PlainStream) -> Times {
    let digest = stream.loadScript()
    return .of { times in
      for number in 0..<count { times.measure { stream.sendByScript(digest, number) } }
    }
  }

  func sendingMany(_ stream: PlainStream) -> Times {
    .of { times in
      let (each, share) = (Hand<[Duration]>([]), count / crowd)
      let threads = (0..<crowd).map { _ in
        Thread {
          let stream = PlainStream()
          var times = Times()
          for _ in 0..<share { times.measure { stream.send() } }
          let measured = times.each
          each.value.withLock { $0 += measured }
        }
      }
      for thread in threads { thread.join() }
      times.each = each.value.withLock { $0 }
    }
  }

  func receiving(_ stream: PlainStream) -> Times {
    _ = sendingMany(stream)
    return .of { times in
      for _ in 0..<count / crowd * crowd {
        times.measure { stream.acknowledge(stream.receive(upTo: 1)) }
      }
    }
  }

  func receivingMany(_ stream: PlainStream) -> Times {
    _ = sendingMany(stream)
    return .of { times in
      var left = count / crowd * crowd
      while left > 0 {
        times.measure {
          let ids = stream.receive(upTo: 100)
          stream.acknowledge(ids)
          left -= ids.count
        }
      }
    }
  }

  func handingOver(_ stream: PlainStream) -> Times {
    let (arrived, count) = (Hand<[ContinuousClock.Instant]>([]), count)
    // A pipe, because the sender is to wait for each arrival as the coroutines do.
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { stop("no pipe") }
    let (reading, writing) = (ends[0], ends[1])
    defer {
      close(reading)
      close(writing)
    }
    let receiver = Thread {
      let stream = PlainStream()
      var byte: UInt8 = 0
      for _ in 0..<count {
        let ids = stream.receive(upTo: 1)
        let moment = ContinuousClock.now
        arrived.value.withLock { $0.append(moment) }
        stream.acknowledge(ids)
        _ = write(writing, &byte, 1)
      }
    }
    var starts: [ContinuousClock.Instant] = []
    var times = Times.of { _ in
      var byte: UInt8 = 0
      for _ in 0..<count {
        starts.append(.now)
        stream.send()
        _ = read(reading, &byte, 1)
      }
    }
    receiver.join()
    times.each = zip(starts, arrived.value.withLock { $0 }).map { $1 - $0 }
    return times
  }
}

/// A thread that blocks.
private struct Thread {
  private let thread: pthread_t

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  init(_ run: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let status = pthread_create(
      &thread,
      nil,
      { context in
        // SAFETY: each thread is given one retained object of its own, and takes it once.
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      },
      Unmanaged.passRetained(Body(run)).toOpaque()
    )
    guard status == 0 else { stop("pthread_create: \(String(cString: strerror(status)))") }
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }
}
