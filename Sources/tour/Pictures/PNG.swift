// SPDX-License-Identifier: Apache-2.0

/// Writes pictures as PNG, without compressing them.
///
/// Written from https://www.w3.org/TR/png-3/, RFC 1950 and RFC 1951.
enum PNG {
  /// A file with this picture.
  static func encode(_ picture: Picture) -> [UInt8] {
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    let size = bytes(UInt32(picture.width)) + bytes(UInt32(picture.height))
    // Eight bits each of red, green and blue, not interlaced.
    append("IHDR", size + [8, 2, 0, 0, 0], to: &file)
    append("IDAT", compressed(rows(of: picture)), to: &file)
    append("IEND", [], to: &file)
    return file
  }

  /// Each row begins with how it is filtered: not at all.
  private static func rows(of picture: Picture) -> [UInt8] {
    let stride = picture.width * 3
    var rows: [UInt8] = []
    rows.reserveCapacity((stride + 1) * picture.height)
    for row in 0..<picture.height {
      rows.append(0)
      rows += picture.pixels[(row * stride)..<((row + 1) * stride)]
    }
    return rows
  }

  private static func append(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
    let chunk = Array(type.utf8) + content
    file += bytes(UInt32(content.count)) + chunk + bytes(checksum(chunk))
  }

  /// A stream of zlib's whose blocks hold the bytes as they are.
  private static func compressed(_ content: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var rest = content[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      stream.append(rest.isEmpty ? 1 : 0)
      for number in [count, ~count] {
        stream += [UInt8(number & 255), UInt8(number >> 8)]
      }
      stream += block
    } while !rest.isEmpty
    return stream + bytes(adler(content))
  }

  private static func adler(_ content: [UInt8]) -> UInt32 {
    var (one, two): (UInt32, UInt32) = (1, 0)
    for start in stride(from: 0, to: content.count, by: 5552) {
      // So many bytes cannot overflow the sums.
      for byte in content[start..<min(start + 5552, content.count)] {
        one &+= UInt32(byte)
        two &+= one
      }
      one %= 65_521
      two %= 65_521
    }
    return two << 16 | one
  }

  private static func checksum(_ content: [UInt8]) -> UInt32 {
    ~content.reduce(~0) { crc, byte in table[Int((crc ^ UInt32(byte)) & 255)] ^ (crc >> 8) }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }
}
