// SPDX-License-Identifier: Apache-2.0

/// A picture made small, and what is said under it.
struct Thumbnail: Sendable {
  let name: String
  let image: Image
  /// Of the picture that it was made from.
  let width: Int
  let height: Int
  let bytes: Int

  /// Decodes a file and makes it small; nil if it is no picture.
  ///
  /// Blocks, and takes its time.
  static func read(_ path: String, name: String, bytes: Int, cell: Int) -> Thumbnail? {
    guard let image = Image.read(path), let small = image.scaled(toFit: cell, cell * 3 / 4) else {
      return nil
    }
    return Thumbnail(
      name: name,
      image: small,
      width: image.width,
      height: image.height,
      bytes: bytes
    )
  }
}

/// Thumbnails in rows, each on a card with a caption.
struct Sheet {
  let columns: Int
  /// Pixels of the room for a thumbnail, across; three quarters of it are its height.
  let cell: Int

  private static let margin = 28
  private static let gap = 16
  private static let padding = 12
  private static let captionHeight = 46
  private static let titleHeight = 64

  private var room: Int { cell * 3 / 4 }
  private var cardWidth: Int { cell + 2 * Self.padding }
  private var cardHeight: Int { room + 2 * Self.padding + Self.captionHeight }

  /// Where the n-th thumbnail's room begins.
  func origin(_ number: Int) -> (x: Int, y: Int) {
    (
      Self.margin + number % columns * (cardWidth + Self.gap) + Self.padding,
      Self.margin + Self.titleHeight + number / columns * (cardHeight + Self.gap) + Self.padding
    )
  }

  /// Pixels of a sheet for so many.
  func size(_ count: Int) -> (width: Int, height: Int) {
    let used = max(1, min(count, columns))
    let rows = max(1, (count + columns - 1) / columns)
    return (
      2 * Self.margin + used * (cardWidth + Self.gap) - Self.gap,
      2 * Self.margin + Self.titleHeight + rows * (cardHeight + Self.gap) - Self.gap
    )
  }

  /// Draws the sheet; nil if there is no memory for it.
  ///
  /// Takes its time.
  func draw(_ thumbnails: [Thumbnail], title: String) -> Image? {
    let (width, height) = size(thumbnails.count)
    guard let sheet = Image(width: width, height: height, .desk) else { return nil }
    let inner = width - 2 * Self.margin
    sheet.write(
      title,
      x: Self.margin,
      baseline: Self.margin + 26,
      width: inner,
      size: 20,
      .title,
      .leading
    )
    let total = thumbnails.reduce(0) { $0 + $1.bytes }
    sheet.write(
      "\(thumbnails.count) pictures, \(size(of: total))",
      x: Self.margin,
      baseline: Self.margin + 48,
      width: inner,
      size: 10.5,
      .faint,
      .leading
    )
    for (number, thumbnail) in thumbnails.enumerated() { draw(thumbnail, number, on: sheet) }
    return sheet
  }

  private func draw(_ thumbnail: Thumbnail, _ number: Int, on sheet: Image) {
    let (x, y) = origin(number)
    sheet.fill(x - Self.padding, y - Self.padding, cardWidth, cardHeight, .card)
    sheet.place(
      thumbnail.image,
      x: x + (cell - thumbnail.image.width) / 2,
      y: y + (room - thumbnail.image.height) / 2
    )
    let base = y + room + Self.padding
    sheet.write(thumbnail.name, x: x, baseline: base + 16, width: cell, size: 10.5, .caption)
    sheet.write(
      "\(thumbnail.width) × \(thumbnail.height) · \(size(of: thumbnail.bytes))",
      x: x,
      baseline: base + 35,
      width: cell,
      size: 9,
      .faint
    )
  }

  private func size(of bytes: Int) -> String {
    bytes < 1_000_000
      ? "\((bytes + 500) / 1000) kB"
      : "\((bytes + 50_000) / 100_000 / 10).\((bytes + 50_000) / 100_000 % 10) MB"
  }
}
