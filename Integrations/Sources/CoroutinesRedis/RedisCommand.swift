// SPDX-License-Identifier: Apache-2.0

import CHiredis

/// A command and its arguments, as bytes.
struct RedisCommand {
  private var bytes: [UInt8] = []
  private var lengths: [Int] = []
  /// The command's name, for errors.
  let name: String

  init(_ words: String...) {
    name = words.first ?? ""
    for word in words { append(word) }
  }

  mutating func append(_ word: String) {
    let before = bytes.count
    bytes.append(contentsOf: word.utf8)
    lengths.append(bytes.count - before)
  }

  mutating func append(_ number: Int) {
    append(String(number))
  }

  mutating func append(_ word: [UInt8]) {
    bytes.append(contentsOf: word)
    lengths.append(word.count)
  }

  /// Sends it over a connection of hiredis', and waits for the reply.
  func exchange(_ raw: UnsafeMutablePointer<redisContext>) -> UnsafeMutableRawPointer? {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      var words: [UnsafePointer<CChar>?] = lengths.map { length in
        defer { offset += length }
        // SAFETY: the lengths are those of the words in `bytes`; both live until the call has returned. The
        // first word is never empty, so there is a base address.
        return bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
      }
      return redisCommandArgv(raw, Int32(words.count), &words, lengths)
    }
  }
}
