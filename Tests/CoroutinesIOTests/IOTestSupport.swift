// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Runs a test with a directory of its own, and removes it with the files in it.
func withScratchDirectory(_ body: (String) throws -> Void) throws {
  var template = Array("/tmp/coroutines-io-XXXXXX".utf8CString)
  let made = template.withUnsafeMutableBufferPointer { buffer in
    buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
  }
  guard let directory = made else { throw IOError(code: errno, operation: "making a directory") }
  defer {
    for name in names(in: directory) { unlink("\(directory)/\(name)") }
    rmdir(directory)
  }
  try body(directory)
}

/// The names in a directory.
func names(in directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    // SAFETY: the name is inside the entry, and ends with a zero.
    let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}

/// Does something again and again, and ends the process with failure if descriptors stay open that were
/// not after the first time, which may have opened some for good.
func requireNoDescriptorsLeft(_ body: () throws -> Void) {
  do {
    try body()
    startDispatch()
    let before = OpenDescriptors.now
    for _ in 0..<10 { try body() }
    let left = before.staysOpen()
    if !left.isEmpty { fatalError("descriptors are left open: \(left)") }
  } catch {
    fatalError("\(error)")
  }
}
