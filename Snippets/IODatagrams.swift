// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

try runBlocking {
  let clock = try DatagramSocket(on: .loopback(port: 0))
  let server = launch {
    while true {
      let question = try clock.receive(upTo: 512)
      if let sender = question.sender, !question.isCut { try clock.send("noon".utf8, to: sender) }
    }
  }

  let socket = try DatagramSocket(on: .loopback(port: 0))
  try socket.connect(to: clock.address)
  socket.idleTimeout = .seconds(5)  // a datagram may be lost, so nobody should wait for ever
  try socket.send("what time is it?".utf8)
  print(String(decoding: try socket.receive().bytes, as: UTF8.self))  // prints noon

  try server.cancelAndJoin()
}
