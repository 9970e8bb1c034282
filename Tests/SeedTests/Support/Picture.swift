// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Stands in for `UIImage`: a portable graymap, decoded for real.
struct Picture: Equatable, Sendable, CustomStringConvertible {
  let width: Int
  let height: Int
  let pixels: [UInt8]

  /// Decodes the text form of the format: `P2 width height 255`, and the pixels.
  init?(data: Data) {
    let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count > 4, words[0] == "P2", let width = Int(words[1]), let height = Int(words[2])
    else { return nil }
    let pixels = words.dropFirst(4).compactMap { UInt8($0) }
    guard pixels.count == width * height else { return nil }
    (self.width, self.height, self.pixels) = (width, height, pixels)
  }

  var description: String { "\(width) x \(height) pixels" }

  /// A file with a picture.
  static let file = Data("P2\n3 2\n255\n0 128 255\n255 128 0\n".utf8)
}

/// Stands in for `UIImageView`.
final class PictureView: @unchecked Sendable {
  // SAFETY: used on one queue at a time.
  var image: Picture?
}

/// The picture's data are not a picture.
struct NotAPicture: Error {}
