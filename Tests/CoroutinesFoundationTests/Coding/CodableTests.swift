// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

private struct Shape: Codable, Equatable {
  var name: String
  var sides: [Double]
}

/// A thing whose coding fails.
private struct Stubborn: Codable {
  init() {}
  init(from decoder: any Decoder) throws { throw Failure(1) }
  func encode(to encoder: any Encoder) throws { throw Failure(2) }
}

@Suite(.timeLimit(.minutes(30))) struct CodableTests {
  private let shapes = (0..<3).map { Shape(name: "\($0)", sides: [1, 2.5]) }

  @Test func `JSON is as by the plain calls`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try #expect(inAndOut { try encoder.co.encode(shapes) } == encoder.encode(shapes))
    let data = try encoder.encode(shapes)
    try #expect(inAndOut { try JSONDecoder().co.decode([Shape].self, from: data) } == shapes)
  }

  @Test func `property lists are as by the plain calls`() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    try #expect(inAndOut { try encoder.co.encode(shapes) } == encoder.encode(shapes))
    let data = try encoder.encode(shapes)
    try #expect(
      inAndOut { try PropertyListDecoder().co.decode([Shape].self, from: data) } == shapes
    )
  }

  @Test func `errors pass through, the coder's and the type's own`() throws {
    try runBlocking {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().co.decode(Shape.self, from: Data("[".utf8))
      }
      #expect(throws: Failure(1)) {
        try JSONDecoder().co.decode(Stubborn.self, from: Data("{}".utf8))
      }
      #expect(throws: Failure(2)) { try JSONEncoder().co.encode(Stubborn()) }
      #expect(throws: EncodingError.self) { try PropertyListEncoder().co.encode(Stubborn()) }
      #expect(throws: DecodingError.self) {
        try PropertyListDecoder().co.decode(Shape.self, from: Data("x".utf8))
      }
    }
  }

  @Test func `others run while megabytes are decoded`() throws {
    let data = try JSONEncoder().encode((0..<200_000).map { "number \($0)" })
    let others = try othersRun {
      try #expect(JSONDecoder().co.decode([String].self, from: data).count == 200_000)
    }
    #expect(others)
  }

  @Test func `cancelled code does nothing (rule 2)`() throws {
    try #expect(
      refusesWhenCancelled { _ = try JSONDecoder().co.decode(Int.self, from: Data("1".utf8)) }
    )
    try #expect(refusesWhenCancelled { _ = try JSONEncoder().co.encode(1) })
    try #expect(refusesWhenCancelled { _ = try PropertyListEncoder().co.encode([1]) })
  }
}
