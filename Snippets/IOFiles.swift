// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import Foundation

/// Copies a file piece by piece; other coroutines run while the disk is at work.
func copy(_ source: String, to target: String) throws -> Int64 {
  let from = try File.open(source)
  let to = try File.open(target, .writing)
  var offset: Int64 = 0
  while true {
    let piece = try from.read(at: offset, upTo: 1 << 16)
    if piece.isEmpty { break }
    try to.write(piece, at: offset)
    offset += Int64(piece.count)
  }
  try to.sync()  // an error of the disk shows here, at the latest
  return offset
}

let path = FileManager.default.temporaryDirectory.appending(path: "io-\(UUID())").path()
defer { try? FileManager.default.removeItem(atPath: path) }

try runBlocking {
  let log = try File.open(path, .appending)
  try log.append("one\n".utf8)
  try log.append("two\n".utf8)
  print(try copy(path, to: path + ".copy"))  // prints 8
  try FileManager.default.removeItem(atPath: path + ".copy")

  let file = try File.open(path, .updating)
  try file.write("ONE".utf8, at: 0)
  print(String(decoding: try file.read(at: 0, upTo: 3), as: UTF8.self))  // prints ONE
  do {
    _ = try File.open("/nowhere/file")
  } catch let error as IOError {
    print(error)  // prints opening /nowhere/file: No such file or directory (2)
  }
}
