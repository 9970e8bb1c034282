// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct CollectionFileTests {
  /// What the plain calls read.
  private func plainList(_ url: URL) throws -> Any {
    try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
  }

  @Test func `an array comes back from its file, and the plain call reads it too`() throws {
    let folder = try TemporaryFolder()
    let array: NSArray = ["a", 2, ["b": 3]]
    let result = try inAndOut {
      try array.co.write(to: folder.file("a.plist"))
      try array.co.write(toFile: folder.path("b.plist"), atomically: false)
      return [
        try NSArray.co.contents(of: folder.file("b.plist")),
        try NSArray.co.contents(ofFile: folder.path("a.plist")),
      ]
    }
    #expect(result == [array, array])
    try #expect(plainList(folder.file("a.plist")) as? NSArray == array)
  }

  @Test func `a dictionary comes back from its file, and the plain call reads it too`() throws {
    let folder = try TemporaryFolder()
    let dictionary: NSDictionary = ["a": 1, "b": ["c"]]
    let result = try inAndOut {
      try dictionary.co.write(to: folder.file("a.plist"))
      return try NSDictionary.co.contents(ofFile: folder.path("a.plist"))
    }
    #expect(result == dictionary)
    try #expect(plainList(folder.file("a.plist")) as? NSDictionary == dictionary)
  }

  @Test func `what the plain call wrote is read`() throws {
    let folder = try TemporaryFolder()
    let array: NSArray = ["a", 1]
    try array.write(to: folder.file("a.plist"))
    try runBlocking { try #expect(NSArray.co.contents(of: folder.file("a.plist")) == array) }
  }

  @Test func `the other kind, no property list, and nothing are errors`() throws {
    let folder = try TemporaryFolder()
    let list = folder.file("a.plist")
    try NSArray(array: [1]).co.write(to: list)
    let text = try folder.write("<plist><array>", to: "b.plist")
    try runBlocking {
      let error = #expect(throws: CocoaError.self) { try NSDictionary.co.contents(of: list) }
      #expect(error?.code == .propertyListReadCorrupt)
      #expect(throws: (any Error).self) { try NSArray.co.contents(of: text) }
      #expect(throws: CocoaError.self) { try NSArray.co.contents(of: folder.file("z")) }
    }
  }

  @Test func `a member that has no place in a property list is an error, and writes nothing`()
    throws
  {
    let folder = try TemporaryFolder()
    try runBlocking {
      let error = #expect(throws: CocoaError.self) {
        try NSArray(array: [NSObject()]).co.write(to: folder.file("a"))
      }
      #expect(error?.code == .propertyListWriteInvalid)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("a")))
  }

  @Test func `others run meanwhile, and cancelled code does nothing (rule 2)`() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("a")
    try #expect(othersRun { try NSArray(array: [1]).co.write(to: url) })
    try #expect(refusesWhenCancelled { _ = try NSArray.co.contents(of: url) })
    try #expect(refusesWhenCancelled { try NSDictionary().co.write(to: url) })
    try #expect(plainList(url) as? [Int] == [1])
  }
}
