// SPDX-License-Identifier: Apache-2.0

import Coroutines

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What idle coroutines cost in memory.
enum Footprint {
  static let name = "idle coroutines: launch and park"

  /// Parks so many coroutines and looks at the process's resident memory.
  static func measure(count: Int) throws -> Figure {
    try runBlocking {
      let gate = Channel<Void>()
      let parked = Tally()
      let before = residentBytes()
      let start = ContinuousClock.now
      for _ in 0..<count {
        launch(stackSize: .small) {
          parked.count += 1
          _ = try gate.receive()
        }
      }
      try Coroutine.yield()
      let duration = start.duration(to: .now)
      check(parked.count == count)
      let after = residentBytes()
      for _ in 0..<count { try gate.send(()) }
      let nanoseconds =
        (Double(duration.components.attoseconds) / 1e9 + Double(duration.components.seconds) * 1e9)
        / Double(count)
      var figure = Figure(
        name: "\(name) \(count)",
        nanoseconds: nanoseconds,
        fastest: nanoseconds,
        slowest: nanoseconds,
        allocations: nil
      )
      figure.residentBytes = Double(after - before) / Double(count)
      return figure
    }
  }

  /// Resident memory of this process; 0 where /proc does not tell.
  private static func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let text = String(
      decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
