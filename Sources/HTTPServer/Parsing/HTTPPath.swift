// SPDX-License-Identifier: Apache-2.0

/// Parts of targets.
package enum HTTPPath {
  /// The bytes that a text with `%20` and the like stands for; nil if a percent sign is followed by something else.
  package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var iterator = text.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(HTTPGrammar.hexadecimal),
        let low = iterator.next().flatMap(HTTPGrammar.hexadecimal)
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
