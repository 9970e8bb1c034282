// SPDX-License-Identifier: Apache-2.0

// Shows: a recursive-descent parser whose input comes in pieces. It parks where it lacks a character, in the middle of
// a number if need be, with all of its recursion, and goes on when there is more.
//
// Without coroutines such a parser has to be turned inside out, into a table of states that is fed from outside; here
// it is written like one that has all of its input in memory. Only `peek` knows that it may have to wait.
//
// Output:
//
//   > "1"
//   > "2+"
//   > "30*("
//   > "1+1);"
//   = 72
//   > "2*(3"
//   > "+4"
//   > ");7;8/"
//   = 14
//   = 7
//   > "(5-5);"
//   error: division by zero
//   > "1+;2"
//   error: no number but ";"
//   > ""
//   error: the input ended in an expression

import Coroutines

struct ParseError: Error, CustomStringConvertible {
  let description: String
}

/// expression ends with ";"; sum of products of numbers and parentheses.
final class Parser {
  private let pieces: ReceiveEnd<String>
  private var piece = Substring()

  init(_ pieces: ReceiveEnd<String>) { self.pieces = pieces }

  /// The values of the expressions, one by one as they become complete.
  var values: Generator<Result<Int, ParseError>> {
    Generator { [self] yield in
      while try peek() != nil {
        do {
          let value = try sum()
          try expect(";")
          try yield(.success(value))
        } catch let error as ParseError {
          while let next = try peek(), next != ";" { advance() }
          if try peek() != nil { advance() }
          try yield(.failure(error))
        }
      }
    }
  }

  // MARK: - Grammar

  private func sum() throws -> Int {
    var value = try product()
    while let sign = try peek(), sign == "+" || sign == "-" {
      advance()
      let next = try product()
      value = sign == "+" ? value + next : value - next
    }
    return value
  }

  private func product() throws -> Int {
    var value = try factor()
    while let sign = try peek(), sign == "*" || sign == "/" {
      advance()
      let next = try factor()
      if sign == "/", next == 0 { throw ParseError(description: "division by zero") }
      value = sign == "*" ? value * next : value / next
    }
    return value
  }

  private func factor() throws -> Int {
    if try peek() == "(" {
      advance()
      let value = try sum()
      try expect(")")
      return value
    }
    var digits = ""
    while let digit = try peek(), digit.isNumber {
      digits.append(digit)
      advance()
    }
    if let number = Int(digits) { return number }
    throw try unexpected("no number")
  }

  // MARK: - Characters

  /// The next character, nil at the end; parks until it is known.
  private func peek() throws -> Character? {
    while piece.isEmpty {
      do { piece = try pieces.receive()[...] } catch ChannelError.closed { return nil }
    }
    return piece.first
  }

  private func advance() { piece.removeFirst() }

  private func expect(_ character: Character) throws {
    guard try peek() == character else { throw try unexpected("no \"\(character)\"") }
    advance()
  }

  private func unexpected(_ lack: String) throws -> ParseError {
    guard let next = try peek() else {
      return ParseError(description: "the input ended in an expression")
    }
    return ParseError(description: "\(lack) but \"\(next)\"")
  }
}

try runBlocking {
  let pieces = Channel<String>()
  launch(name: "input") {
    defer { pieces.close() }
    for piece in [
      "1", "2+", "30*(", "1+1);", "2*(3", "+4", ");7;8/", "(5-5);", "1+;2", "",
    ] {
      print("> \"\(piece)\"")
      try pieces.send(piece)
      try Coroutine.yield()  // to let the parser do with it what it can
    }
  }
  for value in Parser(pieces.receiveEnd).values {
    switch value {
    case .success(let number): print("= \(number)")
    case .failure(let error): print("error: \(error)")
    }
  }
}
