// SPDX-License-Identifier: Apache-2.0

// Shows: `Codable` on input that has not come yet. The decoder parks inside `init(from:)`, so elements are there
// before the document is complete, and nobody has to hold all of it.
//
// `Decodable` is a synchronous protocol, and `async` code cannot wait inside it. A coroutine can: the code between,
// here the standard library's own `Array.init(from:)`, need not know. StreamDecoder.swift is the decoder.
//
// Output:
//
//   received [{"city": "Oslo", "deg
//   received rees": -3}, {"city": "Rome"
//     decoded Oslo: -3
//   received , "degrees": 17},
//     decoded Rome: 17
//   received  {"city": "a \"[,]\" b", "degrees"
//   received : 0}]
//     decoded a "[,]" b: 0
//   3 readings, 14 degrees in all
//   a document that is cut off:
//   received [{"city": "Oslo", "degrees": -3}, {"ci
//     decoded Oslo: -3
//   error: The input ended in element 1.

import Coroutines

struct Reading: Decodable {
  let city: String
  let degrees: Int

  private enum CodingKeys: CodingKey { case city, degrees }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    city = try fields.decode(String.self, forKey: .city)
    degrees = try fields.decode(Int.self, forKey: .degrees)
    print("  decoded \(city): \(degrees)")
  }
}

/// Decodes an array of readings from what a coroutine sends piece by piece, as a network would.
func decode(_ pieces: [String]) throws -> [Reading] {
  let channel = Channel<String>()
  launch(name: "network") {
    defer { channel.close() }
    for piece in pieces {
      print("received \(piece)")
      try channel.send(piece)
      try Coroutine.yield()
    }
  }
  return try [Reading](from: StreamDecoder(channel.receiveEnd))
}

try runBlocking {
  let readings = try decode([
    #"[{"city": "Oslo", "deg"#,
    #"rees": -3}, {"city": "Rome""#,
    #", "degrees": 17},"#,
    #" {"city": "a \"[,]\" b", "degrees""#,
    #": 0}]"#,
  ])
  print("\(readings.count) readings, \(readings.map(\.degrees).reduce(0, +)) degrees in all")

  print("a document that is cut off:")
  do {
    _ = try decode([#"[{"city": "Oslo", "degrees": -3}, {"ci"#])
  } catch DecodingError.dataCorrupted(let context) {
    print("error:", context.debugDescription)
  }
}
