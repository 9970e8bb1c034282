// SPDX-License-Identifier: Apache-2.0

// Shows: a TCP server with CoroutinesIO, and what to do about a client that does not read.
//
// Ann and Bob chat. Sloth is in the room, too, but does not read: its lines first fill the buffers of the system and
// then its queue in the server (Room.swift). When that is full, Sloth is dropped; the others do not notice any delay.
// Server and clients run in this program, on one thread.
//
// Output:
//
//   Ann saw:
//     * Ann is here
//     * Bob is here
//     * Sloth is here
//     Ann: hello
//     Bob: hi Ann
//     (many long lines of Ann)
//     * Sloth was too slow
//     Bob: what a long story
//     * Bob has left
//   Bob saw:
//     * Bob is here
//     * Sloth is here
//     Ann: hello
//     Bob: hi Ann
//     (many long lines of Ann)
//     * Sloth was too slow
//     Bob: what a long story
//   Bob read every line that Ann wrote: true

import Coroutines
import CoroutinesIO

final class Client {
  let name: String
  private let stream: ByteStream
  private let reader: BufferedReader
  private(set) var seen: [String] = []
  private(set) var chapters = 0

  init(_ name: String, at address: SocketAddress) throws {
    self.name = name
    stream = try ByteStream.connect(to: address)
    reader = BufferedReader(stream)
    try stream.write(name + "\n")
  }

  func say(_ line: String) throws { try stream.write(line + "\n") }

  func leave() { stream.close() }

  /// Reads a line, and notes it.
  func read() throws -> String? {
    guard let line = try reader.readLine(limit: 1 << 16) else { return nil }
    if line.hasPrefix("Ann: chapter") {
      if chapters == 0 { seen.append("(many long lines of Ann)") }
      chapters += 1
    } else {
      seen.append(line)
    }
    return line
  }

  /// Reads on until a line has come.
  func wait(for line: String) throws {
    while let next = try read(), next != line {}
  }
}

try runBlocking {
  let room = try Room()
  launch(name: "room") { try room.serve() }
  defer { room.close() }

  let ann = try Client("Ann", at: room.address)
  try ann.wait(for: "* Ann is here")
  let bob = try Client("Bob", at: room.address)
  try bob.wait(for: "* Bob is here")
  let sloth = try Client("Sloth", at: room.address)
  for client in [ann, bob] { try client.wait(for: "* Sloth is here") }

  try ann.say("hello")
  try bob.wait(for: "Ann: hello")
  try bob.say("hi Ann")
  try ann.wait(for: "Bob: hi Ann")

  // Bob reads all the time. Ann waits for each of her lines to come back before she writes the next.
  let reading = launch(name: "Bob") { try bob.wait(for: "* Sloth was too slow") }
  let chapter = "chapter " + String(repeating: "and so on ", count: 3000)
  var written = 0
  while ann.seen.last != "* Sloth was too slow" {
    try ann.say(chapter)
    written += 1
    while let line = try ann.read(), line != "Ann: " + chapter {}
  }
  try reading.value()
  try bob.say("what a long story")
  for client in [ann, bob] { try client.wait(for: "Bob: what a long story") }
  bob.leave()
  try ann.wait(for: "* Bob has left")
  for client in [ann, sloth] { client.leave() }

  for client in [ann, bob] {
    print("\(client.name) saw:")
    for line in client.seen { print("  " + line) }
  }
  print("Bob read every line that Ann wrote:", bob.chapters == written)
}
