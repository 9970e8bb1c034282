// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

/// A chat room on a TCP port: the first line of a client is its name; what it writes then goes to all.
///
/// Two coroutines for each client, one that reads and one that writes, with a queue before the latter. All run on one
/// thread, so the table of members needs no lock.
final class Room {
  /// How far a client may lag behind, in lines, before it is dropped.
  static let patience = 16

  private struct Member {
    let stream: ByteStream
    let outbox: Channel<String>
  }

  private let listener: StreamListener
  private var members: [String: Member] = [:]

  init() throws { listener = try StreamListener(on: .loopback(port: 0)) }

  var address: SocketAddress { listener.address }

  func serve() throws {
    try withCoroutineScope { scope in
      for stream in listener.connections {
        // Whatever goes wrong with one client is that client's affair.
        scope.launch { try? self.serve(stream) }
      }
    }
  }

  func close() { listener.close() }

  private func serve(_ stream: ByteStream) throws {
    defer { stream.close() }
    let reader = BufferedReader(stream)
    guard let name = try reader.readLine(limit: 100), members[name] == nil else { return }

    let outbox = Channel<String>(capacity: .bounded(Self.patience))
    members[name] = Member(stream: stream, outbox: outbox)
    tellAll("* \(name) is here")
    try withCoroutineScope { scope in
      scope.launch(name: "writer of \(name)") {
        for line in outbox { try stream.write(line + "\n") }
      }
      // An error here is also the end: of a client that broke off, or of one that was dropped below.
      while let line = try? reader.readLine(limit: 1 << 16) { tellAll("\(name): \(line)") }
      leave(name, "has left")
      outbox.close()
    }
  }

  /// Puts a line into everybody's queue; never waits.
  private func tellAll(_ line: String) {
    for (name, member) in members where !member.outbox.sendIfReady(line).isSent {
      leave(name, "was too slow")
      // Whoever reads or writes there gets an error.
      member.stream.close()
    }
  }

  private func leave(_ name: String, _ reason: String) {
    if members.removeValue(forKey: name) != nil { tellAll("* \(name) \(reason)") }
  }
}
