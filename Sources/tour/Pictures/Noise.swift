// SPDX-License-Identifier: Apache-2.0

/// Randomness that is a function of the place: the same picture each time.
enum Noise {
  /// A number from 0 to 1 for a square of the plane.
  static func at(_ x: Int, _ y: Int, _ seed: Int) -> Double {
    var word = UInt64(bitPattern: Int64(x &* 73_856_093 ^ y &* 19_349_663 ^ seed &* 83_492_791))
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((word ^ (word >> 31)) >> 11) / Double(1 << 53 as UInt64)
  }

  /// Hills and valleys from 0 to 1, about one in each square.
  static func smooth(_ point: Point, _ seed: Int) -> Double {
    let (left, bottom) = (point.x.rounded(.down), point.y.rounded(.down))
    let (column, row) = (Int(left), Int(bottom))
    func eased(_ part: Double) -> Double { part * part * (3 - 2 * part) }
    let (across, up) = (eased(point.x - left), eased(point.y - bottom))
    func between(_ one: Double, _ other: Double, _ share: Double) -> Double {
      one + (other - one) * share
    }
    return between(
      between(at(column, row, seed), at(column + 1, row, seed), across),
      between(at(column, row + 1, seed), at(column + 1, row + 1, seed), across),
      up
    )
  }

  /// Hills with smaller hills on them, and so on; from 0 to 1.
  static func rough(_ point: Point, _ seed: Int, octaves: Int = 5) -> Double {
    var (sum, weight, total, scale) = (0.0, 0.5, 0.0, 1.0)
    for octave in 0..<octaves {
      sum += weight * smooth(point * scale, seed + octave)
      total += weight
      weight /= 2
      scale *= 2
    }
    return sum / total
  }
}
