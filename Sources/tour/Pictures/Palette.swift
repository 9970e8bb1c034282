// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Colours that follow one another round a circle.
struct Palette: Sendable {
  private let base: Color
  private let swing: Color
  private let phase: Color

  private init(_ base: Color, _ swing: Color, _ phase: Color) {
    (self.base, self.swing, self.phase) = (base, swing, phase)
  }

  /// One of them; the same for the same number.
  init(_ number: Int) { self = Self.all[abs(number) % Self.all.count] }

  private static let all = [
    Palette(Color(0.55, 0.40, 0.45), Color(0.45, 0.38, 0.40), Color(0.00, 0.12, 0.35)),
    Palette(Color(0.30, 0.50, 0.60), Color(0.30, 0.40, 0.38), Color(0.60, 0.40, 0.25)),
    Palette(Color(0.60, 0.50, 0.30), Color(0.38, 0.36, 0.30), Color(0.05, 0.18, 0.45)),
    Palette(Color(0.40, 0.35, 0.60), Color(0.40, 0.33, 0.38), Color(0.80, 0.55, 0.15)),
    Palette(Color(0.35, 0.55, 0.40), Color(0.33, 0.40, 0.35), Color(0.30, 0.05, 0.75)),
    Palette(Color(0.62, 0.38, 0.30), Color(0.38, 0.36, 0.30), Color(0.95, 0.10, 0.30)),
  ]

  /// The colour at a place of the circle, which begins anew at 1.
  subscript(_ place: Double) -> Color {
    func part(_ base: Double, _ swing: Double, _ phase: Double) -> Double {
      base + swing * cos(2 * .pi * (place + phase))
    }
    return Color(
      part(base.red, swing.red, phase.red),
      part(base.green, swing.green, phase.green),
      part(base.blue, swing.blue, phase.blue)
    )
  }
}
