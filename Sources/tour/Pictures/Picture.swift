// SPDX-License-Identifier: Apache-2.0

/// Rows of pixels, from the top, each of three bytes.
struct Picture: Sendable {
  let width: Int
  let height: Int
  let pixels: [UInt8]

  /// Draws a picture pixel by pixel.
  ///
  /// - Parameters:
  ///   - width: In pixels.
  ///   - height: In pixels.
  ///   - paint: The colour of a point. The picture's shorter side goes from -1 to 1, its middle is 0; y points up.
  init(width: Int, height: Int, _ paint: (Point) -> Color) {
    self.width = width
    self.height = height
    let unit = 2 / Double(min(width, height))
    pixels = [UInt8](unsafeUninitializedCapacity: width * height * 3) { buffer, count in
      for row in 0..<height {
        for column in 0..<width {
          let point = Point(
            x: (Double(column) + 0.5 - Double(width) / 2) * unit,
            y: (Double(height) / 2 - Double(row) - 0.5) * unit
          )
          let color = paint(point)
          for part in [color.red, color.green, color.blue] {
            buffer.initializeElement(at: count, to: UInt8(max(0, min(1, part)) * 255))
            count += 1
          }
        }
      }
    }
  }
}

/// A place in a picture.
struct Point: Sendable {
  var x: Double
  var y: Double

  var length: Double { (x * x + y * y).squareRoot() }

  static func + (one: Point, other: Point) -> Point {
    Point(x: one.x + other.x, y: one.y + other.y)
  }
  static func - (one: Point, other: Point) -> Point {
    Point(x: one.x - other.x, y: one.y - other.y)
  }
  static func * (point: Point, factor: Double) -> Point {
    Point(x: point.x * factor, y: point.y * factor)
  }
}

/// Light, each part from 0 to 1.
struct Color: Sendable {
  var red: Double
  var green: Double
  var blue: Double

  init(_ red: Double, _ green: Double, _ blue: Double) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// 0 is this one, 1 the other.
  func mixed(with other: Color, _ share: Double) -> Color {
    let share = max(0, min(1, share))
    return Color(
      red + (other.red - red) * share,
      green + (other.green - green) * share,
      blue + (other.blue - blue) * share
    )
  }

  static func * (color: Color, factor: Double) -> Color {
    Color(color.red * factor, color.green * factor, color.blue * factor)
  }

  static func + (one: Color, other: Color) -> Color {
    Color(one.red + other.red, one.green + other.green, one.blue + other.blue)
  }
}
