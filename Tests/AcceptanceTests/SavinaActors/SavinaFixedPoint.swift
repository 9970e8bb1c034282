// SPDX-License-Identifier: Apache-2.0

/// A number that is not negative, as a sum of powers of 2 to the 32: exact but for what is too small.
struct SavinaFixedPoint: Sendable, Equatable {
  /// The whole part, then what follows it.
  private var limbs: [UInt32]

  /// A whole number that can be computed with to so many decimal places.
  init(_ whole: UInt32, places: Int) {
    // A limb is more than nine digits; two more for what the divisions lose.
    limbs = Array(repeating: 0, count: places / 9 + 4)
    limbs[0] = whole
  }

  var isZero: Bool { limbs.allSatisfy { $0 == 0 } }

  mutating func add(_ other: SavinaFixedPoint) {
    var carry: UInt64 = 0
    for index in limbs.indices.reversed() {
      carry += UInt64(limbs[index]) + UInt64(other.limbs[index])
      limbs[index] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
  }

  /// Takes off a number that is not greater.
  mutating func subtract(_ other: SavinaFixedPoint) {
    var borrow: Int64 = 0
    for index in limbs.indices.reversed() {
      borrow += Int64(limbs[index]) - Int64(other.limbs[index])
      limbs[index] = UInt32(truncatingIfNeeded: borrow)
      borrow >>= 32
    }
  }

  func divided(by divisor: UInt32) -> SavinaFixedPoint {
    var (quotient, rest) = (self, UInt64(0))
    for index in limbs.indices {
      let (result, remainder) = (rest << 32 | UInt64(limbs[index]))
        .quotientAndRemainder(dividingBy: UInt64(divisor))
      quotient.limbs[index] = UInt32(result)
      rest = remainder
    }
    return quotient
  }

  /// The number with so many decimal places, cut off.
  func decimal(_ places: Int) -> String {
    var rest = self
    var text = "\(limbs[0])."
    for _ in 0..<places {
      rest.limbs[0] = 0
      var carry: UInt64 = 0
      for index in rest.limbs.indices.reversed() {
        carry += UInt64(rest.limbs[index]) * 10
        rest.limbs[index] = UInt32(truncatingIfNeeded: carry)
        carry >>= 32
      }
      text += "\(rest.limbs[0])"
    }
    return text
  }
}
