// SPDX-License-Identifier: Apache-2.0

/// What the program can draw.
enum Motif: String, CaseIterable, Sendable {
  case sunset, mandelbrot, sunflower, nebula, sphere, julia, mountains, glass, ripples, newton
  case plasma, tiles

  /// Pictures have different shapes, as in real albums: width to height.
  private static let shapes = [(3, 2), (4, 3), (1, 1), (2, 3), (16, 9)]

  /// The name and the drawing of the n-th picture of an album, from 0 on.
  static func picture(_ number: Int, side: Int) -> (name: String, draw: @Sendable () -> Picture) {
    let motif = allCases[number % allCases.count]
    let variant = number / allCases.count
    let (wide, high) = shapes[(number + variant) % shapes.count]
    let longer = max(wide, high)
    let (width, height) = (max(1, side * wide / longer), max(1, side * high / longer))
    return (
      "\(motif.rawValue)-\(variant + 1).png",
      { Picture(width: width, height: height, motif.painter(variant)) }
    )
  }

  private func painter(_ variant: Int) -> (Point) -> Color {
    switch self {
    case .sunset: Landscapes.sunset(variant)
    case .mountains: Landscapes.mountains(variant)
    case .nebula: Landscapes.nebula(variant)
    case .mandelbrot: Fractals.mandelbrot(variant)
    case .julia: Fractals.julia(variant)
    case .newton: Fractals.newton(variant)
    case .sunflower: Patterns.sunflower(variant)
    case .glass: Patterns.glass(variant)
    case .ripples: Patterns.ripples(variant)
    case .plasma: Patterns.plasma(variant)
    case .tiles: Patterns.tiles(variant)
    case .sphere: Landscapes.sphere(variant)
    }
  }
}
