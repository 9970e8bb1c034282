// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct DataAndStringTests {
  @Test func `bytes come back as they were written`() throws {
    let folder = try TemporaryFolder()
    let data = Data((0...255).map { UInt8($0) })
    let result = try inAndOut {
      try data.co.write(to: folder.file("a"), options: .atomic)
      try data.co.write(toFile: folder.path("b"))
      return [
        try Data.co.contents(of: folder.file("b")), try Data.co.contents(ofFile: folder.path("a")),
      ]
    }
    #expect(result == [data, data])
    try #expect(Data(contentsOf: folder.file("a")) == data)
  }

  @Test(arguments: [String.Encoding.utf8, .utf16, .isoLatin1])
  func `text comes back as it was written`(encoding: String.Encoding) throws {
    let folder = try TemporaryFolder()
    let text = "Grüße\n"
    let result = try inAndOut {
      try text.co.write(to: folder.file("a"), encoding: encoding)
      try text.co.write(toFile: folder.path("b"), atomically: false, encoding: encoding)
      return [
        try String.co.contents(of: folder.file("b"), encoding: encoding),
        try String.co.contents(ofFile: folder.path("a"), encoding: encoding),
      ]
    }
    #expect(result == [text, text])
    try #expect(String(contentsOf: folder.file("a"), encoding: encoding) == text)
  }

  @Test func `the encoding of a text is found out as by the plain call`() throws {
    let folder = try TemporaryFolder()
    try "Grüße".write(to: folder.file("a"), atomically: true, encoding: .utf16)
    var encoding = String.Encoding.ascii
    let text = try String(contentsOf: folder.file("a"), usedEncoding: &encoding)
    try runBlocking {
      let found = try String.co.contentsAndEncoding(of: folder.file("a"))
      #expect(found.text == text && found.encoding == encoding)
      try #expect(String.co.contentsAndEncoding(ofFile: folder.path("a")).text == text)
    }
  }

  @Test func `a file that is missing is the plain call's error`() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("missing")
    let plain = #expect(throws: CocoaError.self) { try Data(contentsOf: url) }
    for isInside in [true, false] {
      let wrapped = #expect(throws: CocoaError.self) {
        if isInside {
          try runBlocking { try Data.co.contents(of: url) }
        } else {
          try Data.co.contents(of: url)
        }
      }
      #expect(wrapped?.code == plain?.code)
      #expect(wrapped?.code == .fileReadNoSuchFile)
    }
    try runBlocking {
      #expect(throws: CocoaError.self) { try String.co.contents(of: url) }
      #expect(throws: CocoaError.self) { try "a".co.write(toFile: folder.path("no/way")) }
    }
  }

  @Test func `other coroutines run while a file is read`() throws {
    let folder = try TemporaryFolder()
    let data = Data(count: 1 << 20)
    let others = try othersRun {
      try data.co.write(to: folder.file("a"))
      try #expect(Data.co.contents(of: folder.file("a")).count == 1 << 20)
    }
    #expect(others)
  }

  @Test func `cancelled code neither reads nor writes (rule 2)`() throws {
    let folder = try TemporaryFolder()
    let url = try folder.write("old", to: "a")
    try #expect(refusesWhenCancelled { _ = try Data.co.contents(of: url) })
    try #expect(refusesWhenCancelled { try Data().co.write(to: url) })
    try #expect(refusesWhenCancelled { try "new".co.write(to: url) })
    try #expect(String(contentsOf: url, encoding: .utf8) == "old")
  }
}
