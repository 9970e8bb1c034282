// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

/// Answers each line with its length, to any number of clients at a time.
func serve(_ listener: StreamListener) throws {
  try withCoroutineScope { clients in
    for stream in listener.connections {
      clients.launch {
        defer { stream.close() }
        stream.idleTimeout = .seconds(30)  // a client that says nothing for so long is left
        let reader = BufferedReader(stream)
        while let line = try reader.readLine(limit: 1000) { try stream.write("\(line.count)\n") }
      }
    }
  }
}

try runBlocking {
  let listener = try StreamListener(on: .loopback(port: 0))
  let server = launch { try serve(listener) }

  guard let port = listener.address.port else { return }
  let stream = try ByteStream.connect(host: "localhost", port: port)
  try stream.write("hello\n")
  print(String(decoding: try stream.read(), as: UTF8.self), terminator: "")  // prints 5
  try stream.write("last words\n")
  try stream.finishWriting()  // nothing more from here; the answer still comes
  let rest = try stream.readToEnd(limit: 1000)
  print(String(decoding: rest, as: UTF8.self), terminator: "")  // prints 10

  let quiet = try ByteStream.connect(to: listener.address)
  do {
    try withTimeout(.milliseconds(20)) { _ = try quiet.read() }
  } catch is TimeoutError { print("too late") }  // prints too late
  quiet.close()
  do {
    _ = try ByteStream.connect(to: .unix(path: "/nowhere"))
  } catch let error as IOError {
    print(error)  // prints connecting to /nowhere: No such file or directory (2)
  }
  listener.close()  // ends `connections`, and so `serve`
  try server.value()
}
