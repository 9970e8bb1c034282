// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What simple rules draw.
enum Patterns {
  /// Seeds, each turned by the golden angle from the one before.
  static func sunflower(_ variant: Int) -> (Point) -> Color {
    let golden = Double.pi * (3 - 5.0.squareRoot())
    let seeds = (0..<420).map { number in
      let radius = 0.052 * (Double(number) + 0.5).squareRoot()
      let angle = Double(number) * golden
      return Point(x: radius * cos(angle), y: radius * sin(angle))
    }
    let palette = Palette(variant + 2)
    let ground = Color(0.10, 0.07, 0.12)
    return { point in
      // Only seeds of about this radius can be here.
      let number = Int(pow(point.length / 0.052, 2))
      var color = ground
      for index in seeds.indices.clamped(to: max(0, number - 45)..<(number + 45)) {
        let size = 0.014 + 0.026 * seeds[index].length
        let distance = (point - seeds[index]).length / size
        guard distance < 1 else { continue }
        let light = (1 - distance * distance).squareRoot()
        color = palette[Double(index) / 420 + 0.1] * (0.35 + 0.75 * light)
      }
      return color
    }
  }

  /// Cells round points that lie about.
  static func glass(_ variant: Int) -> (Point) -> Color {
    let palette = Palette(variant + 4)
    return { point in
      let place = point * 3.2
      let (column, row) = (Int(place.x.rounded(.down)), Int(place.y.rounded(.down)))
      var (nearest, next, owner) = (Double.infinity, Double.infinity, 0.0)
      for x in (column - 1)...(column + 1) {
        for y in (row - 1)...(row + 1) {
          let middle = Point(
            x: Double(x) + Noise.at(x, y, variant),
            y: Double(y) + Noise.at(x, y, variant + 50)
          )
          let distance = (middle - place).length
          if distance < nearest {
            (next, nearest, owner) = (nearest, distance, Noise.at(x, y, variant + 99))
          } else if distance < next {
            next = distance
          }
        }
      }
      let lead = min(1, max(0, (next - nearest - 0.03) / 0.04))
      return palette[owner] * (1.12 - 0.45 * nearest) * (0.08 + 0.92 * lead)
    }
  }

  /// Waves from three stones.
  static func ripples(_ variant: Int) -> (Point) -> Color {
    let stones = [Point(x: -0.7, y: 0.35), Point(x: 0.65, y: 0.5), Point(x: 0.1, y: -0.75)]
    let palette = Palette(variant + 1)
    return { point in
      let height = stones.reduce(0.0) { sum, stone in
        let distance = (point - stone).length
        return sum + cos(distance * (22 + 5 * Double(variant))) / (1 + distance)
      }
      return palette[0.5 + height * 0.16] * (0.85 + 0.18 * height)
    }
  }

  static func plasma(_ variant: Int) -> (Point) -> Color {
    let palette = Palette(variant + 5)
    let shift = Double(variant) * 1.7
    return { point in
      let (x, y) = (point.x * 3, point.y * 3)
      let sum =
        sin(x + shift) + sin(y * 1.3 - shift) + sin((x + y) * 0.8 + shift)
        + sin((x * x + y * y).squareRoot() * 1.6)
      return palette[sum * 0.16]
    }
  }

  /// Truchet's: quarter circles, turned at random.
  static func tiles(_ variant: Int) -> (Point) -> Color {
    let palette = Palette(variant)
    return { point in
      let place = point * 3.5
      let (left, bottom) = (place.x.rounded(.down), place.y.rounded(.down))
      let isTurned = Noise.at(Int(left), Int(bottom), variant + 7) < 0.5
      var (x, y) = (place.x - left, place.y - bottom)
      if isTurned { x = 1 - x }
      if x + y > 1 { (x, y) = (1 - x, 1 - y) }
      let distance = abs((x * x + y * y).squareRoot() - 0.5)
      let ground = palette[0.62] * (0.42 + 0.06 * point.y)
      if distance > 0.2 { return ground }
      if distance > 0.165 { return Color(0.04, 0.04, 0.07) }
      return palette[0.1 + 0.22 * point.y + 0.12 * point.x] * (1.08 - 2.2 * distance)
    }
  }
}
