// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What repeated arithmetic draws.
enum Fractals {
  /// How many rounds z² + c takes to get far, with a fraction; nil if it does not.
  private static func escape(_ start: Point, _ constant: Point, limit: Int) -> Double? {
    var (x, y) = (start.x, start.y)
    for round in 0..<limit {
      let (xx, yy) = (x * x, y * y)
      if xx + yy > 256 { return Double(round) + 1 - log2(log2(xx + yy) / 2) }
      (x, y) = (xx - yy + constant.x, 2 * x * y + constant.y)
    }
    return nil
  }

  static func mandelbrot(_ variant: Int) -> (Point) -> Color {
    let views = [
      (Point(x: -0.65, y: 0), 1.25), (Point(x: -0.7436, y: 0.1318), 0.008),
      (Point(x: 0.275, y: 0.008), 0.012), (Point(x: -1.25, y: 0.02), 0.08),
    ]
    let (middle, size) = views[variant % views.count]
    let palette = Palette(variant)
    return { point in
      guard let rounds = escape(Point(x: 0, y: 0), middle + point * size, limit: 220) else {
        return Color(0.02, 0.02, 0.06)
      }
      return palette[sqrt(max(0, rounds)) * 0.18]
    }
  }

  static func julia(_ variant: Int) -> (Point) -> Color {
    let constants = [
      Point(x: -0.8, y: 0.156), Point(x: 0.285, y: 0.01), Point(x: -0.4, y: 0.6),
      Point(x: -0.7269, y: 0.1889),
    ]
    let constant = constants[variant % constants.count]
    let palette = Palette(variant + 3)
    return { point in
      guard let rounds = escape(point * 1.15, constant, limit: 200) else {
        return Color(0.03, 0.01, 0.05)
      }
      return palette[sqrt(max(0, rounds)) * 0.16 + 0.3]
    }
  }

  /// Which root of z³ = 1 Newton's method finds, and how soon.
  static func newton(_ variant: Int) -> (Point) -> Color {
    let turn = Double(variant) * 0.4
    let palette = Palette(variant + 1)
    return { point in
      var x = (point.x * cos(turn) - point.y * sin(turn)) * 1.4
      var y = (point.x * sin(turn) + point.y * cos(turn)) * 1.4
      for round in 0..<40 {
        let (xx, yy) = (x * x - y * y, 2 * x * y)
        let size = 3 * (xx * xx + yy * yy)
        if size < 1e-12 { break }
        let (nextX, nextY) = (2 * x / 3 + xx / size, 2 * y / 3 - yy / size)
        let step = abs(nextX - x) + abs(nextY - y)
        (x, y) = (nextX, nextY)
        if step < 1e-4 {
          let root = (atan2(y, x) / (2 * .pi) * 3).rounded() / 3
          return palette[root + 0.1] * (1.15 - Double(round) * 0.045)
        }
      }
      return Color(0, 0, 0)
    }
  }
}
