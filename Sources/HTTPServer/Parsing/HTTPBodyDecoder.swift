// SPDX-License-Identifier: Apache-2.0

/// Finds a request's body in the bytes that come: a state machine that waits for nothing and reads nothing.
struct HTTPBodyDecoder: Sendable {
  private enum State {
    /// So many bytes are to come; then it is over, or the end of the chunk comes.
    case content(Int)
    case chunkSize
    /// What follows a chunk: an empty line.
    case chunkEnd
    case trailer(HTTPFieldReader)
    case over
  }

  private let limits: HTTPLimits
  /// Far from where sums of sizes would overflow.
  private let maximum: Int
  private let isChunked: Bool
  private var state: State
  private var lines = HTTPLineReader()
  private var count = 0

  /// Bytes of a chunk's size and of the extensions after it.
  private static let chunkLine = 256

  init(_ framing: HTTPBodyFraming, _ limits: HTTPLimits) {
    self.limits = limits
    maximum = min(limits.bodyBytes, 1 << 48)
    switch framing {
    case .length(let length):
      isChunked = false
      state = length > 0 ? .content(length) : .over
    case .chunked:
      isChunked = true
      state = .chunkSize
    }
  }

  /// All of the body has been found.
  var isOver: Bool { if case .over = state { true } else { false } }

  /// Takes bytes up to the end of what they bring of the body, at most.
  ///
  /// - Parameters:
  ///   - bytes: What has come; all that is taken is dropped from its front.
  ///   - limit: At most so many bytes of the body.
  /// - Returns: Some of the body; empty if it is over, or if more bytes are needed.
  /// - Throws: A refusal, if that is no body or one that is too long.
  mutating func take(
    from bytes: inout ArraySlice<UInt8>,
    upTo limit: Int = .max
  ) throws(HTTPRefusal) -> ArraySlice<UInt8> {
    while !bytes.isEmpty, !isOver {
      if case .content(let missing) = state {
        let part = bytes.prefix(min(missing, limit))
        bytes = bytes.dropFirst(part.count)
        state = .content(missing - part.count)
        if part.count == missing { state = isChunked ? .chunkEnd : .over }
        return part
      }
      try take(bytes.removeFirst())
    }
    return []
  }

  private mutating func take(_ byte: UInt8) throws(HTTPRefusal) {
    switch state {
    case .content, .over: break
    case .chunkSize:
      let tooLong = HTTPRefusal(400, "more than \(Self.chunkLine) bytes before a chunk")
      guard try lines.take(byte, limit: Self.chunkLine, orThrow: tooLong) else { return }
      let size = try chunkSize(lines.line[...])
      lines.next()
      state = size > 0 ? .content(size) : .trailer(HTTPFieldReader(limits))
    case .chunkEnd:
      let surplus = HTTPRefusal(400, "a chunk is longer than it says")
      guard try lines.take(byte, limit: 0, orThrow: surplus) else { return }
      lines.next()
      state = .chunkSize
    case .trailer(var fields):
      // Nobody here needs them, but they end the body.
      state = try fields.take(byte) ? .over : .trailer(fields)
    }
  }

  /// RFC 9112 §7.1: digits of base 16, and after a semicolon extensions, which nobody here knows.
  private mutating func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") }
    var size = 0
    for digit in digits {
      guard let value = HTTPGrammar.hexadecimal(digit) else {
        throw HTTPRefusal(400, "the size of a chunk is no number")
      }
      size = size << 4 | value
      // Before it can overflow.
      if size > maximum { throw tooLarge }
    }
    guard !digits.isEmpty, HTTPGrammar.isFieldValue(line) else {
      throw HTTPRefusal(400, "the size of a chunk is no number")
    }
    count += size
    if count > maximum { throw tooLarge }
    return size
  }

  private var tooLarge: HTTPRefusal {
    HTTPRefusal(413, "more than \(maximum) bytes of body")
  }
}
