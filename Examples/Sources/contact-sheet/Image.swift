// SPDX-License-Identifier: Apache-2.0

import CGD

/// A picture of libgd's, freed when nobody has it any more.
final class Image: @unchecked Sendable {
  // SAFETY: one coroutine or thread has it at a time: it is handed over by `offload`, or by a scope's end.
  private let pointer: gdImagePtr

  private init(_ pointer: gdImagePtr) { self.pointer = pointer }

  deinit { gdImageDestroy(pointer) }

  var width: Int { Int(pointer.pointee.sx) }
  var height: Int { Int(pointer.pointee.sy) }

  /// Decodes a file of a kind that its name tells; nil if it is none.
  ///
  /// Blocks.
  static func read(_ path: String) -> Image? { gdImageCreateFromFile(path).map { Image($0) } }

  /// An empty picture of one colour.
  init?(width: Int, height: Int, _ color: Paint) {
    guard let pointer = gdImageCreateTrueColor(Int32(width), Int32(height)) else { return nil }
    self.pointer = pointer
    fill(0, 0, width, height, color)
  }

  /// The picture made as large as fits into so many pixels, but no larger than it is.
  ///
  /// Takes its time.
  func scaled(toFit width: Int, _ height: Int) -> Image? {
    let ratio = min(1, Double(width) / Double(self.width), Double(height) / Double(self.height))
    let size = (
      max(1, Int((Double(self.width) * ratio).rounded())),
      max(1, Int((Double(self.height) * ratio).rounded()))
    )
    guard let small = Image(width: size.0, height: size.1, .card) else { return nil }
    gdImageCopyResampled(
      small.pointer,
      pointer,
      0,
      0,
      0,
      0,
      Int32(size.0),
      Int32(size.1),
      Int32(self.width),
      Int32(self.height)
    )
    return small
  }

  /// Puts another picture on this one.
  func place(_ other: Image, x: Int, y: Int) {
    gdImageCopy(
      pointer,
      other.pointer,
      Int32(x),
      Int32(y),
      0,
      0,
      Int32(other.width),
      Int32(other.height)
    )
  }

  func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ color: Paint) {
    let (right, bottom) = (Int32(x + width - 1), Int32(y + height - 1))
    gdImageFilledRectangle(pointer, Int32(x), Int32(y), right, bottom, color.number)
  }

  /// The colour at a place, as one number.
  func color(x: Int, y: Int) -> Int { Int(gdImageGetTrueColorPixel(pointer, Int32(x), Int32(y))) }

  /// Encodes it as PNG.
  func png() -> [UInt8]? {
    var count: Int32 = 0
    guard let bytes = gdImagePngPtr(pointer, &count) else { return nil }
    defer { gdFree(bytes) }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  }
}

/// A colour of the sheet.
struct Paint: Sendable {
  let number: Int32

  static let desk = Paint(number: 0x16_18_1D)
  static let card = Paint(number: 0x23_26_2E)
  static let title = Paint(number: 0xF2_F3_F5)
  static let caption = Paint(number: 0xD3_D7_DE)
  static let faint = Paint(number: 0x8A_91_9E)
}

/// Where a line of text is placed.
enum Alignment {
  case leading
  case centred
}

extension Image {
  /// Which font fontconfig is asked for.
  private static let font = "DejaVu Sans"

  /// Writes a line, shortened until it fits.
  ///
  /// - Parameters:
  ///   - text: The line.
  ///   - x: Where its box begins.
  ///   - baseline: What its letters stand on.
  ///   - width: Of its box.
  ///   - size: In points.
  ///   - color: Its colour.
  ///   - alignment: Where it is in its box.
  func write(
    _ text: String,
    x: Int,
    baseline: Int,
    width: Int,
    size: Double,
    _ color: Paint,
    _ alignment: Alignment = .centred
  ) {
    var line = text
    var extent = Self.extent(line, size)
    while extent > width, line.count > 2 {
      line = line.dropLast(line.hasSuffix("…") ? 2 : 1) + "…"
      extent = Self.extent(line, size)
    }
    let start = alignment == .centred ? x + (width - extent) / 2 : x
    var box = [Int32](repeating: 0, count: 8)
    var characters = Array(line.utf8CString)
    _ = gdImageStringFT(
      pointer,
      &box,
      color.number,
      Self.font,
      size,
      0,
      Int32(start),
      Int32(baseline),
      &characters
    )
  }

  /// Whether there is a font at all.
  ///
  /// Without one there are no captions.
  static func prepareFonts() -> Bool {
    guard gdFontCacheSetup() == 0, gdFTUseFontConfig(1) != 0 else { return false }
    return extent("x", 10) > 0
  }

  private static func extent(_ text: String, _ size: Double) -> Int {
    var box = [Int32](repeating: 0, count: 8)
    var characters = Array(text.utf8CString)
    // Without a picture it only measures.
    let error = gdImageStringFT(nil, &box, 0, font, size, 0, 0, 0, &characters)
    return error == nil ? Int(box[2] - box[0]) : 0
  }
}
