// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What one might see from a window.
enum Landscapes {
  /// A sun over the sea.
  static func sunset(_ variant: Int) -> (Point) -> Color {
    let sun = Point(x: variant % 2 == 0 ? -0.25 : 0.4, y: 0.12)
    let skies = [
      (Color(0.10, 0.13, 0.32), Color(0.98, 0.52, 0.28)),
      (Color(0.22, 0.10, 0.30), Color(0.96, 0.40, 0.42)),
      (Color(0.05, 0.20, 0.36), Color(0.99, 0.75, 0.42)),
    ]
    let (zenith, haze) = skies[variant % skies.count]
    func sky(_ point: Point) -> Color {
      let glow = exp(-2.2 * (point - sun).length)
      let cloud = Noise.rough(Point(x: point.x * 1.4, y: point.y * 6), variant)
      let color = haze.mixed(with: zenith, pow(max(0, point.y + 0.15), 0.7))
      return color.mixed(with: haze * 1.1, max(0, cloud - 0.52) * 2.4)
        + Color(0.55, 0.42, 0.18) * glow
    }
    return { point in
      if point.y > -0.15 {
        let edge = (point - sun).length
        return sky(point).mixed(with: Color(1, 0.95, 0.75), (0.205 - edge) * 60)
      }
      let depth = -0.15 - point.y
      let wave = Noise.rough(Point(x: point.x * 3, y: 3 / (depth + 0.06)), variant + 9)
      let mirrored = Point(x: point.x + (wave - 0.5) * 0.2, y: -0.3 - point.y)
      let path = exp(-pow((point.x - sun.x) / (0.09 + depth * 0.35), 2)) * max(0, wave - 0.35) * 2.6
      return sky(mirrored) * (0.55 - 0.25 * depth) + Color(0.95, 0.72, 0.40) * path
    }
  }

  /// Ridges, each paler than the one before it.
  static func mountains(_ variant: Int) -> (Point) -> Color {
    let tones = [
      (Color(0.78, 0.86, 0.93), Color(0.07, 0.16, 0.26)),
      (Color(0.97, 0.84, 0.74), Color(0.22, 0.08, 0.22)),
      (Color(0.84, 0.92, 0.84), Color(0.05, 0.18, 0.14)),
    ]
    let (air, rock) = tones[variant % tones.count]
    return { point in
      for ridge in 0..<6 {
        let near = Double(ridge) / 5
        let place = Point(x: point.x * (1.9 - near * 0.7) + Double(ridge) * 7, y: 0.5)
        let height = -0.85 + near * 1.05 + Noise.rough(place, variant * 10 + ridge) * 0.75
        if point.y < height {
          let haze = near * 0.85 + (height - point.y) * 0.28
          return rock.mixed(with: air, haze)
        }
      }
      let light = exp(-3.5 * (point - Point(x: 0.5, y: 0.62)).length)
      return air.mixed(with: Color(0.42, 0.60, 0.82), max(0, point.y) * 0.7)
        + Color(0.5, 0.45, 0.3) * light
    }
  }

  /// Gas and stars.
  static func nebula(_ variant: Int) -> (Point) -> Color {
    let palette = Palette(variant + 3)
    return { point in
      let bend = Noise.rough(point * 1.4, variant) - 0.5
      let gas = Noise.rough(
        point * 1.8 + Point(x: bend * 2.4, y: bend * 1.8),
        variant + 20,
        octaves: 6
      )
      let dense = pow(max(0, gas - 0.28) * 1.75, 2.2)
      var color = Color(0.01, 0.01, 0.04) + palette[gas * 0.9 + 0.2] * dense
      for (scale, seed) in [(26.0, 1), (11.0, 2)] {
        let place = point * scale
        let (column, row) = (Int(place.x.rounded(.down)), Int(place.y.rounded(.down)))
        let luck = Noise.at(column, row, variant + seed * 31)
        guard luck > 0.82 else { continue }
        let middle = Point(
          x: Double(column) + 0.3 + 0.4 * Noise.at(column, row, seed + 3),
          y: Double(row) + 0.3 + 0.4 * Noise.at(column, row, seed + 4)
        )
        let distance = (place - middle).length
        color = color + Color(1, 0.95, 0.88) * (exp(-distance * distance * 90) * (luck - 0.6) * 2.5)
      }
      return color
    }
  }

  /// A ball on a chequered floor, lit from the left.
  static func sphere(_ variant: Int) -> (Point) -> Color {
    let palette = Palette(variant * 2)
    let light = (x: -0.5, y: 0.72, z: -0.48)
    func floor(_ x: Double, _ z: Double) -> Color {
      let isDark = (Int((x * 1.1).rounded(.down)) + Int((z * 1.1).rounded(.down))) & 1 == 0
      let tile = isDark ? palette[0.55] * 0.55 : Color(0.92, 0.91, 0.88)
      let toLight = (x: x + light.x * 1.05, z: z - 3 + light.z * 1.05)
      let shade = 1 - 0.6 * exp(-pow(toLight.x, 2) * 1.1 - pow(toLight.z, 2) * 1.1)
      let distance = (x * x + z * z).squareRoot()
      return (tile * shade).mixed(with: Color(0.72, 0.82, 0.92), (distance - 4) * 0.07)
    }
    func look(
      _ x: Double,
      _ y: Double,
      _ z: Double,
      from height: Double,
      _ startX: Double,
      _ startZ: Double
    ) -> Color {
      guard y < -0.01 else {
        return Color(0.72, 0.82, 0.92).mixed(with: Color(0.25, 0.45, 0.75), y * 1.6)
      }
      let steps = -(height + 1) / y
      return floor(startX + x * steps, startZ + z * steps)
    }
    return { point in
      let down = point.y - 0.15
      let size = (point.x * point.x + down * down + 2.2 * 2.2).squareRoot()
      let (x, y, z) = (point.x / size, down / size, 2.2 / size)
      // The ball's middle is three units away, its radius 1, the floor one unit down.
      let along = z * 3
      let under = along * along - 8
      guard under > 0, case let reach = along - under.squareRoot(), reach > 0 else {
        return look(x, y, z, from: 0, 0, 0)
      }
      let normal = (x: x * reach, y: y * reach, z: z * reach - 3)
      let facing = max(0, normal.x * light.x + normal.y * light.y + normal.z * light.z)
      let back = 2 * (x * normal.x + y * normal.y + z * normal.z)
      let (mx, my, mz) = (x - back * normal.x, y - back * normal.y, z - back * normal.z)
      let shine = pow(max(0, mx * light.x + my * light.y + mz * light.z), 40)
      let mirrored = look(mx, my, mz, from: normal.y, normal.x, normal.z + 3)
      return (palette[0.12] * (0.28 + 0.85 * facing)).mixed(with: mirrored, 0.32)
        + Color(1, 1, 1) * (shine * 0.8)
    }
  }
}
