// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads what is at the addresses, all at the same time, and measures it.
func sizes(of addresses: [URL]) throws -> [Int] {
  try withCoroutineScope { scope in
    let loads = addresses.map { address in
      scope.launch { try URLSession.shared.co.data(from: address).0.count }
    }
    return try loads.map { try $0.value() }
  }
}

/// Counts the lines of an answer of any length, in little memory.
func countLines(at address: URL) throws -> Int {
  let body = try URLSession.shared.co.stream(from: address)
  var lines = 0
  while let chunk = try body.receive() { lines += chunk.count { $0 == UInt8(ascii: "\n") } }
  return lines
}

/// Loads a file, and begins again where it stopped if the connection breaks.
func fetch(_ address: URL, to file: URL) throws {
  let download = URLSession.shared.co.resumableDownload(for: URLRequest(url: address), to: file)
  for attempt in 1... {
    do {
      _ = try download.run()
      return
    } catch let error as URLError where attempt < 5 {
      print("again, because of", error.code)
      try Coroutine.sleep(for: .seconds(attempt))
    }
  }
}

try runBlocking {
  print(try sizes(of: []))  // prints []
}
