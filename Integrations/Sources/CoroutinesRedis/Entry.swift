// SPDX-License-Identifier: Apache-2.0

/// An entry of a stream, as it was delivered.
struct Entry {
  let id: String
  /// Which delivery this is.
  let number: Int
  /// In JSON.
  let value: [UInt8]

  /// From an answer to XREADGROUP for one stream: `[[stream, [[id, [field, value]]]]]`.
  ///
  /// - Returns: Nil if it is something else.
  static func read(_ reply: RedisReply) -> [Entry]? {
    guard let stream = reply.list?.first?.list, stream.count == 2 else { return nil }
    return stream[1].list?.compactMap { entry in
      guard let parts = entry.list, parts.count == 2, let id = parts[0].text else { return nil }
      // An entry without our field has been added by others: it goes to the dead letters.
      return Entry(id: id, number: 1, value: field("v", of: parts[1]) ?? [])
    }
  }

  /// From an answer of the script `claim`: `[[id, number, value]]`.
  ///
  /// - Returns: Nil if it is something else.
  static func claimed(_ replies: [RedisReply]) -> [Entry]? {
    var entries: [Entry] = []
    for reply in replies {
      guard let parts = reply.list, parts.count == 3, let id = parts[0].text,
        let number = parts[1].integer, let value = parts[2].bytes
      else { return nil }
      entries.append(Entry(id: id, number: number, value: value))
    }
    return entries
  }

  /// A field of an entry.
  static func field(_ name: String, of reply: RedisReply) -> [UInt8]? {
    guard let parts = reply.list else { return nil }
    for index in stride(from: 0, to: parts.count - 1, by: 2) where parts[index].text == name {
      return parts[index + 1].bytes
    }
    return nil
  }
}
