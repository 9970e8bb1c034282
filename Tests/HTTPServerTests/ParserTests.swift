// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

/// The state machines alone, fed with what nobody would think of.
@Suite(.timeLimit(.minutes(30))) struct ParserTests {
  /// What a whole message comes to.
  private enum Outcome: Equatable {
    case refused(HTTPRefusal)
    case incomplete
    case complete(HTTPRequestHead, body: [UInt8], rest: [UInt8])
  }

  private func parse(_ bytes: [UInt8], pieces: (Int) -> Int) -> Outcome {
    var parser = HTTPRequestParser(RefusalTests.limits)
    var head: HTTPRequestHead?
    var start = 0
    do {
      while head == nil {
        guard start < bytes.count else { return .incomplete }
        head = try parser.take(bytes[start])
        start += 1
      }
      guard let head else { return .incomplete }
      var decoder = HTTPBodyDecoder(head.framing, RefusalTests.limits)
      var body: [UInt8] = []
      while !decoder.isOver {
        guard start < bytes.count else { return .incomplete }
        var piece = bytes[start...].prefix(max(1, pieces(start)))
        start = piece.endIndex
        while case let part = try decoder.take(from: &piece, upTo: max(1, pieces(start))),
          !part.isEmpty
        {
          body += part
        }
        start -= piece.count
      }
      return .complete(head, body: body, rest: Array(bytes[start...]))
    } catch {
      return .refused(error)
    }
  }

  private static let samples = [
    "GET /a?b HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\nGET / HTTP/1.1\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\nrest",
    "OPTIONS * HTTP/1.0\r\nConnection: keep-alive, close\r\nExpect: 100-continue\r\n\r\n",
  ].map { Array($0.utf8) }

  /// Bytes that matter to a parser.
  private static let telling =
    Array("\r\n\t :;,/0123456789abcdefABCDEF\0\u{7F}%?#*".utf8) + [0x80, 0xFF]

  private func mutated(_ random: inout SplitMix) -> [UInt8] {
    var bytes = Self.samples[Int.random(in: 0..<Self.samples.count, using: &random)]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      let byte =
        Bool.random(using: &random)
        ? UInt8.random(in: 0...255, using: &random)
        : Self.telling.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where !bytes.isEmpty: bytes[place] = byte
      case 1 where !bytes.isEmpty: bytes.remove(at: place)
      case 2: bytes.insert(byte, at: place)
      case 3:
        let count = Int.random(in: 0...40, using: &random)
        bytes.insert(contentsOf: bytes.dropFirst(place).prefix(count), at: place)
      default: bytes.removeLast(min(bytes.count, Int.random(in: 0...20, using: &random)))
      }
    }
    return bytes
  }

  @Test(arguments: 0..<8)
  func `whatever comes, the parser ends with a request or a refusal, however it is split`(
    _ seed: Int
  ) {
    var random = SplitMix(seed: UInt64(seed))
    var outcomes = (refused: 0, complete: 0)
    for _ in 0..<4000 {
      let bytes = mutated(&random)
      let whole = parse(bytes) { _ in .max }
      #expect(parse(bytes) { _ in 1 } == whole, "\(bytes)")
      let salt = Int.random(in: 1...9, using: &random)
      #expect(parse(bytes) { ($0 &* salt) % 13 } == whole, "\(bytes)")
      switch whole {
      case .refused: outcomes.refused += 1
      case .complete(let head, let body, let rest):
        outcomes.complete += 1
        #expect(body.count + rest.count <= bytes.count)
        #expect(head.target.hasPrefix("/") || head.target == "*")
        if case .length(let length) = head.framing { #expect(body.count == length) }
      case .incomplete: break
      }
    }
    // Else it has tested little.
    #expect(outcomes.refused > 500 && outcomes.complete > 500)
  }

  @Test(arguments: 0..<4)
  func `noise is refused or waited for within the limits`(_ seed: Int) {
    var random = SplitMix(seed: UInt64(1000 + seed))
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...700, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if case .complete = parse(bytes, pieces: { _ in 1 }) { Issue.record("\(bytes)") }
    }
  }

  @Test func `a body is found whatever the pieces and however little is taken at a time`() throws {
    let bytes = Array("3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: u\r\n\r\nnext".utf8)
    for size in 1...bytes.count {
      for limit in 1...11 {
        var decoder = HTTPBodyDecoder(.chunked, HTTPLimits())
        var body: [UInt8] = []
        var rest = bytes[...]
        while !decoder.isOver {
          var piece = rest.prefix(size)
          rest = rest.dropFirst(size)
          while case let part = try decoder.take(from: &piece, upTo: limit), !part.isEmpty {
            #expect(part.count <= limit)
            body += part
          }
          rest = piece + rest
        }
        #expect(body == Array("abc0123456789".utf8))
        #expect(Array(rest) == Array("next".utf8))
      }
    }
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
    (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
  ])
  func `dates are written as HTTP has them`(_ seconds: Int, _ text: String) {
    #expect(HTTPDate.text(seconds) == text)
  }

  @Test func `names of fields are the same in capital and small letters`() {
    var headers: HTTPHeaders = ["Accept": "a", "ACCEPT": "b , C", "X": "y"]
    #expect(headers["accept"] == "a")
    #expect(headers.values(of: "aCCept") == ["a", "b , C"])
    #expect(headers.list("Accept") == ["a", "b", "c"])
    headers["x"] = nil
    headers["accept"] = "d"
    #expect(headers.fields == [.init("accept", "d")])
  }
}
