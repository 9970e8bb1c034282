// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Memory of this process, in bytes.
public struct Memory: Sendable {
  /// Resident pages.
  public let resident: Int
  /// Page tables.
  public let pageTables: Int
  /// Mappings: the lines of /proc/self/maps.
  public let mappings: Int

  /// Now; zeros where /proc does not tell.
  public init() {
    var resident = 0
    var pageTables = 0
    if let file = fopen("/proc/self/status", "r") {
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, 256, file) != nil {
        let text = String(
          decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
          as: UTF8.self
        )
        let fields = text.split { $0 == " " || $0 == "\t" || $0 == "\n" }
        guard fields.count > 1, let number = Int(fields[1]) else { continue }
        if fields[0] == "VmRSS:" { resident = number * 1024 }
        if fields[0] == "VmPTE:" { pageTables = number * 1024 }
      }
    }
    self.resident = resident
    self.pageTables = pageTables
    mappings = Self.lines(of: "/proc/self/maps")
  }

  /// What has been added for each of so many things; mappings for all of them together.
  public func growth(since start: Memory, each count: Int) -> [(name: String, value: Double)] {
    let rss = Double(resident - start.resident) / Double(count)
    let tables = Double(pageTables - start.pageTables) / Double(count)
    return [
      ("bytes", rss + tables), ("rss_bytes", rss), ("pte_bytes", tables),
      ("mappings", Double(mappings - start.mappings)),
    ]
  }

  private static func lines(of path: String) -> Int {
    guard let file = fopen(path, "r") else { return 0 }
    defer { fclose(file) }
    var lines = 0
    while true {
      let character = getc(file)
      if character == EOF { return lines }
      if character == 10 { lines += 1 }
    }
  }
}
