// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import HTTPTestServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "User guide", section 9, "cokit": its list of categories, each used once in a coroutine.
@Suite(.timeLimit(.minutes(30))) struct GuideCokitTests {
  @Test func `NSDictionary+Coroutine writes a dictionary to a file, and reads it`() throws {
    let folder = try Folder()
    try runBlocking {
      try NSDictionary(dictionary: ["name": "Li Lei", "age": 28]).co
        .write(to: folder["d.plist"])
      let read = try NSDictionary.co.contents(of: folder["d.plist"])
      #expect(read["name"] as? String == "Li Lei")
      #expect(read["age"] as? Int == 28)
    }
  }

  @Test func `NSArray+Coroutine reads an array of a property list`() throws {
    let folder = try Folder()
    try runBlocking {
      try NSArray(array: [1, 2, 3]).co.write(toFile: folder.path("a.plist"))
      let read = try NSArray.co.contents(ofFile: folder.path("a.plist"))
      #expect(read as? [Int] == [1, 2, 3])
    }
  }

  @Test func `NSString+Coroutine reads and writes text files`() throws {
    let folder = try Folder()
    try runBlocking {
      try "协程".co.write(to: folder["s.txt"])
      #expect(try String.co.contents(of: folder["s.txt"]) == "协程")
    }
  }

  @Test func `NSData+Coroutine reads and writes data files`() throws {
    let folder = try Folder()
    try runBlocking {
      try Picture.file.co.write(to: folder["p.pgm"])
      #expect(try Data.co.contents(of: folder["p.pgm"]) == Picture.file)
    }
  }

  @Test func `NSFileManager+Coroutine works on files`() throws {
    let folder = try Folder(["a.txt": "a"])
    try runBlocking {
      let manager = FileManager.default.co
      #expect(try manager.fileExists(atPath: folder.path("a.txt")))
      try manager.linkItem(atPath: folder.path("a.txt"), toPath: folder.path("b.txt"))
      #expect(
        try manager.contentsOfDirectory(atPath: folder.url.path).sorted() == ["a.txt", "b.txt"]
      )
      try manager.removeItem(atPath: folder.path("a.txt"))
      #expect(try manager.contents(atPath: folder.path("b.txt")) == Data("a".utf8))
    }
  }

  @Test func `NSJSONSerialization+Coroutine makes JSON of objects, and objects of JSON`() throws {
    try runBlocking {
      let data = try JSONSerialization.co.data(withJSONObject: ["key": [1, 2]])
      let object = try JSONSerialization.co.jsonObject(with: data)
      #expect(object as? [String: [Int]] == ["key": [1, 2]])
    }
  }

  @Test func `NSKeyedArchiver+Coroutine archives objects, and unarchives them`() throws {
    try runBlocking {
      let data = try NSKeyedArchiver.co.archivedData(withRootObject: NSArray(array: ["a", "b"]))
      let array = try NSKeyedUnarchiver.co.unarchivedObject(
        ofClasses: [NSArray.self, NSString.self],
        from: data
      )
      #expect(array as? [String] == ["a", "b"])
    }
  }

  // NSURLConnection+Coroutine, NSURLSession+Coroutine: the first has been deprecated for long, and does not
  // exist on Linux.
  @Test func `NSURLSession+Coroutine loads what is at an address`() throws {
    let server = try HTTPTestServer(routes: ["/": .text("hello")])
    try runBlocking {
      let (data, response) = try URLSession.shared.co.data(from: server.url())
      #expect(data == Data("hello".utf8))
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  @Test func `NSUserDefaults+Coroutine keeps settings`() throws {
    let name = "swift-coroutines-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    try runBlocking {
      try defaults.co.set("value", forKey: "key")
      #expect(try defaults.co.string(forKey: "key") == "value")
      try defaults.co.removeObject(forKey: "key")
      #expect(try defaults.co.object(forKey: "key") == nil)
    }
  }

  // UIImage+Coroutine. There is no UIKit on Linux: a picture of the tests' own is decoded instead.
  @Test func `an image is decoded away from the thread of the coroutine`() throws {
    try runBlocking {
      let image = try offload { Picture(data: Picture.file) }
      #expect(image?.width == 3)
    }
  }
}
