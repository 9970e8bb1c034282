// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The files that the read rows read: `compare` makes them and names their folder.
public enum Files {
  /// The path of a file: the folder holds 256 of 256 KiB and 16 of 20 MiB.
  public static func path(_ kind: String, _ number: Int) -> String {
    guard let folder = getenv("BENCHMARK_FILES") else {
      fail("BENCHMARK_FILES names no folder of files; run this row by compare")
    }
    return String(cString: folder) + "/\(kind)-\(number % (kind == "256k" ? 256 : 16))"
  }

  /// Reads a whole file, and returns its length and its last byte, added.
  public static func read(_ path: String) -> Int {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { fail("no file \(path)", status: 1) }
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    let size = Int(status.st_size)
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(1, size), alignment: 16)
    defer { bytes.deallocate() }
    var length = 0
    while length < size {
      #if canImport(Glibc)
      let count = Glibc.read(descriptor, bytes + length, size - length)
      #else
      let count = Darwin.read(descriptor, bytes + length, size - length)
      #endif
      guard count > 0 else { fail("cannot read \(path)", status: 1) }
      length += count
    }
    return size + Int(bytes.load(fromByteOffset: size - 1, as: UInt8.self))
  }
}
