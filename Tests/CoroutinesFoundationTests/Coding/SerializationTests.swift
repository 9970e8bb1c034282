// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct SerializationTests {
  @Test func `JSON objects are as by the plain calls`() throws {
    let object: NSDictionary = ["a": [1, 2], "b": "c"]
    let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    let written = try inAndOut {
      try JSONSerialization.co.data(withJSONObject: object, options: .sortedKeys)
    }
    #expect(written == data)
    let read = try inAndOut { try JSONSerialization.co.jsonObject(with: data) as? NSDictionary }
    #expect(read == object)
    try #expect(inAndOut { try JSONSerialization.co.isValidJSONObject(object) } == true)
    try #expect(inAndOut { try JSONSerialization.co.isValidJSONObject([NSObject()]) } == false)
  }

  @Test func `JSON passes through streams`() throws {
    let object: NSArray = [1, "b", ["c": 2]]
    let result = try inAndOut {
      let output = OutputStream.toMemory()
      output.open()
      let count = try JSONSerialization.co.writeJSONObject(object, to: output)
      let data = try #require(output.property(forKey: .dataWrittenToMemoryStreamKey) as? Data)
      #expect(count == data.count)
      let input = InputStream(data: data)
      input.open()
      return try JSONSerialization.co.jsonObject(with: input) as? NSArray
    }
    #expect(result == object)
  }

  @Test func `a text becomes an object, and fragments are allowed`() throws {
    try #expect(inAndOut { try "[1, 2]".co.jsonObject() as? [Int] } == [1, 2])
    try #expect(inAndOut { try "\"a\"".co.jsonObject() as? String } == "a")
    _ = try runBlocking { #expect(throws: (any Error).self) { try "[1".co.jsonObject() } }
  }

  @Test func `what has no form in JSON is an error and does not stop the program`() throws {
    try runBlocking {
      for object in [[NSObject()], 1, "text", [Double.nan]] as [Any] {
        let error = #expect(throws: CocoaError.self) {
          try JSONSerialization.co.data(withJSONObject: object)
        }
        #expect(error?.code == .propertyListWriteInvalid)
      }
      let fragment = try JSONSerialization.co.data(withJSONObject: 1, options: .fragmentsAllowed)
      #expect(fragment == Data("1".utf8))
    }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `property lists are as by the plain calls`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let list: NSDictionary = ["a": 1, "b": [Date(timeIntervalSince1970: 0), Data([1])]]
    let data = try PropertyListSerialization.data(
      fromPropertyList: list,
      format: format,
      options: 0
    )
    try #expect(
      inAndOut { try PropertyListSerialization.co.data(fromPropertyList: list, format: format) }
        == data
    )
    let read = try inAndOut {
      let (object, found) = try PropertyListSerialization.co.propertyList(from: data)
      #expect(found == format)
      return object as? NSDictionary
    }
    #expect(read == list)
    let streamed = try inAndOut {
      let output = OutputStream.toMemory()
      output.open()
      _ = try PropertyListSerialization.co.writePropertyList(list, to: output, format: format)
      let bytes = try #require(output.property(forKey: .dataWrittenToMemoryStreamKey) as? Data)
      let input = InputStream(data: bytes)
      input.open()
      return try PropertyListSerialization.co.propertyList(with: input).object as? NSDictionary
    }
    #expect(streamed == list)
  }

  @Test func `what is no property list is an error`() throws {
    try runBlocking {
      try #expect(PropertyListSerialization.co.propertyList([1], isValidFor: .xml))
      try #expect(!PropertyListSerialization.co.propertyList([NSObject()], isValidFor: .xml))
      let error = #expect(throws: CocoaError.self) {
        try PropertyListSerialization.co.data(fromPropertyList: NSObject())
      }
      #expect(error?.code == .propertyListWriteInvalid)
      #expect(throws: (any Error).self) {
        try PropertyListSerialization.co.propertyList(from: Data("<plist><ar".utf8))
      }
    }
  }

  @Test func `object graphs are archived and unarchived`() throws {
    let folder = try TemporaryFolder()
    let graph: NSArray = ["a", NSNumber(value: 1), NSDictionary(dictionary: ["b": "c"])]
    let classes: [AnyClass] = [NSArray.self, NSString.self, NSNumber.self, NSDictionary.self]
    let result = try inAndOut {
      let data = try NSKeyedArchiver.co.archivedData(withRootObject: graph)
      return try NSKeyedUnarchiver.co.unarchivedObject(ofClasses: classes, from: data) as? NSArray
    }
    #expect(result == graph)
    let text = try inAndOut {
      try NSKeyedArchiver.co.archive(rootObject: NSString("a"), to: folder.file("a"))
      return try NSKeyedUnarchiver.co.unarchivedObject(ofClass: NSString.self, at: folder.file("a"))
    }
    #expect(text == "a")
    let data = try NSKeyedArchiver.archivedData(withRootObject: graph, requiringSecureCoding: true)
    let trusted = try inAndOut {
      try NSKeyedUnarchiver.co.unarchiveTopLevelObject(with: data) as? NSArray
    }
    #expect(trusted == graph)
    let string = try NSKeyedArchiver.archivedData(
      withRootObject: NSString("s"),
      requiringSecureCoding: true
    )
    try #expect(
      inAndOut {
        try NSKeyedUnarchiver.co.unarchivedObject(ofClass: NSString.self, from: string)
      } == "s"
    )
  }

  @Test func `an archive that is none is an error`() throws {
    try runBlocking {
      let data = Data("nothing".utf8)
      #expect(throws: (any Error).self) {
        try NSKeyedUnarchiver.co.unarchivedObject(ofClass: NSString.self, from: data)
      }
      #expect(throws: (any Error).self) {
        try NSKeyedUnarchiver.co.unarchiveTopLevelObject(with: data)
      }
    }
  }

  @Test func `others run meanwhile, and cancelled code does nothing (rule 2)`() throws {
    let big = Array(repeating: ["key": "value"], count: 50_000)
    try #expect(othersRun { _ = try JSONSerialization.co.data(withJSONObject: big) })
    try #expect(refusesWhenCancelled { _ = try JSONSerialization.co.data(withJSONObject: [1]) })
    try #expect(refusesWhenCancelled { _ = try "1".co.jsonObject() })
    try #expect(
      refusesWhenCancelled {
        _ = try PropertyListSerialization.co.data(fromPropertyList: [1])
      }
    )
    try #expect(
      refusesWhenCancelled { _ = try NSKeyedArchiver.co.archivedData(withRootObject: "a") }
    )
  }
}
