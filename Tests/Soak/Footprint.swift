// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What the process takes of the system: 0 where /proc does not tell.
struct Footprint {
  var residentBytes: Int
  var mappings: Int

  /// The present one.
  static var now: Footprint {
    var footprint = Footprint(residentBytes: 0, mappings: 0)
    // The second number of the only line.
    var spaces = 0
    var pages = 0
    forEachByte(of: "/proc/self/statm") { byte in
      if byte == UInt8(ascii: " ") {
        spaces += 1
      } else if spaces == 1 {
        pages = pages * 10 + Int(byte) - 48
      }
    }
    footprint.residentBytes = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    forEachByte(of: "/proc/self/maps") { byte in
      if byte == UInt8(ascii: "\n") { footprint.mappings += 1 }
    }
    return footprint
  }

  /// Reads a file in a way that takes no memory of its own.
  private static func forEachByte(of path: String, _ body: (UInt8) -> Void) {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        for byte in buffer.prefix(count) { body(byte) }
      }
    }
  }
}
