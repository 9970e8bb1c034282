// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

struct Planet: Codable {
  var name: String
  var moons: Int
}

let file = FileManager.default.temporaryDirectory.appending(path: "planets-\(UUID()).json")

try runBlocking {
  // None of these blocks the thread: other coroutines run while they wait.
  let planets = [Planet(name: "Earth", moons: 1), Planet(name: "Mars", moons: 2)]
  try JSONEncoder().co.encode(planets).co.write(to: file, options: .atomic)
  let data = try Data.co.contents(of: file)
  let read = try JSONDecoder().co.decode([Planet].self, from: data)
  print(read.map(\.name))  // prints ["Earth", "Mars"]
  try FileManager.default.co.removeItem(at: file)
  print(try FileManager.default.co.fileExists(atPath: file.path()))  // prints false
}

// The same calls work outside of coroutines, where they block as the plain ones do.
do {
  _ = try Data.co.contents(of: file)
} catch let error as CocoaError {
  print(error.code == .fileReadNoSuchFile)  // prints true
}
