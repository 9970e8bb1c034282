// SPDX-License-Identifier: Apache-2.0

import Coroutines

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One kind of work, done again and again, with the footprint sampled.
struct Soak {
  /// What is counted.
  let name: String
  /// How many of it one batch does.
  let batch: Int
  let work: () throws -> Void

  /// Samples that are taken; the first tenth of them is the warm-up, and sets what is normal.
  private static let samples = 100
  /// A footprint may be so much above the normal one: a few pages more or less are no leak.
  private static let tolerance = Footprint(residentBytes: 1 << 20, mappings: 4)

  /// Does the work so many times.
  ///
  /// - Returns: False if memory or mappings have grown.
  func run(_ total: Int) throws -> Bool {
    let batches = max(Self.samples, (total + batch - 1) / batch)
    let begin = ContinuousClock.now
    var normal = Footprint(residentBytes: 0, mappings: 0)
    var highest = normal
    var done = 0
    for sample in 1...Self.samples {
      while done < batches * sample / Self.samples {
        try work()
        done += 1
      }
      let now = Footprint.now
      if sample <= Self.samples / 10 {
        normal.residentBytes = max(normal.residentBytes, now.residentBytes)
        normal.mappings = max(normal.mappings, now.mappings)
      } else {
        highest.residentBytes = max(highest.residentBytes, now.residentBytes)
        highest.mappings = max(highest.mappings, now.mappings)
      }
      if sample % (Self.samples / 10) == 0 {
        report(done * batch, of: batches * batch, now, since: begin)
      }
    }
    let isFlat =
      highest.residentBytes <= normal.residentBytes + Self.tolerance.residentBytes
      && highest.mappings <= normal.mappings + Self.tolerance.mappings
    print(
      "\(name): \(isFlat ? "flat" : "GROWN"): in the first tenth at most \(kibibytes(normal)) KiB and "
        + "\(normal.mappings) mappings, after it at most \(kibibytes(highest)) KiB and "
        + "\(highest.mappings) mappings"
    )
    fflush(nil)
    return isFlat
  }

  private func report(
    _ done: Int,
    of total: Int,
    _ footprint: Footprint,
    since begin: ContinuousClock.Instant
  ) {
    let time = ContinuousClock.now - begin
    let milliseconds =
      time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    print(
      "\(name): \(done) of \(total), \(milliseconds) ms, \(kibibytes(footprint)) KiB resident, "
        + "\(footprint.mappings) mappings"
    )
    fflush(nil)
  }

  private func kibibytes(_ footprint: Footprint) -> Int { footprint.residentBytes >> 10 }
}
