// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30)), .serialized) struct SettingsTests {
  /// Settings of this test's own, removed after.
  private func withSuite<Result>(_ body: (UserDefaults) throws -> Result) throws -> Result {
    let name = "coroutines-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    return try body(defaults)
  }

  @Test(arguments: [true, false])
  func `settings of every kind come back, and the plain calls see them`(isInside: Bool) throws {
    try withSuite { defaults in
      let work = {
        try defaults.co.set("text", forKey: "string")
        try defaults.co.set(3, forKey: "integer")
        try defaults.co.set(Float(1.5), forKey: "float")
        try defaults.co.set(2.5, forKey: "double")
        try defaults.co.set(true, forKey: "bool")
        try defaults.co.set(["a", "b"], forKey: "array")
        try defaults.co.set(["k": 1], forKey: "dictionary")
        try defaults.co.set(Data([1]), forKey: "data")
        try defaults.co.set(URL(filePath: "/tmp"), forKey: "url")
        try #expect(defaults.co.string(forKey: "string") == "text")
        try #expect(defaults.co.object(forKey: "string") as? String == "text")
        try #expect(defaults.co.integer(forKey: "integer") == 3)
        try #expect(defaults.co.float(forKey: "float") == 1.5)
        try #expect(defaults.co.double(forKey: "double") == 2.5)
        try #expect(defaults.co.bool(forKey: "bool"))
        try #expect(defaults.co.array(forKey: "array")?.count == 2)
        try #expect(defaults.co.stringArray(forKey: "array") == ["a", "b"])
        try #expect(defaults.co.dictionary(forKey: "dictionary")?.count == 1)
        try #expect(defaults.co.data(forKey: "data") == Data([1]))
        try #expect(defaults.co.url(forKey: "url")?.path() == defaults.url(forKey: "url")?.path())
        try defaults.co.removeObject(forKey: "string")
        try #expect(defaults.co.string(forKey: "string") == nil)
        try defaults.co.synchronize()
      }
      if isInside { try runBlocking(work) } else { try work() }
      #expect(defaults.integer(forKey: "integer") == 3)
    }
  }

  @Test func `others run meanwhile, and cancelled code changes nothing (rule 2)`() throws {
    try withSuite { defaults in
      try #expect(othersRun { try defaults.co.set(1, forKey: "a") })
      nonisolated(unsafe) let defaults = defaults
      try #expect(refusesWhenCancelled { try defaults.co.set(2, forKey: "a") })
      #expect(defaults.integer(forKey: "a") == 1)
    }
  }

  @Test func `a bundle without code is loaded as by the plain calls`() throws {
    let folder = try TemporaryFolder()
    let bundle = try #require(Bundle(url: folder.url))
    try #expect(inAndOut { try bundle.co.load() } == bundle.load())
    let plain = Result { _ = try bundle.loadAndReturnError() }
    let wrapped = Result { try runBlocking { try bundle.co.loadAndReturnError() } }
    switch (plain, wrapped) {
    case (.success, .success): break
    case (.failure(let one), .failure(let other)):
      #expect((one as NSError).code == (other as NSError).code)
    default: Issue.record("\(plain), but \(wrapped)")
    }
    try #expect(refusesWhenCancelled { try bundle.co.load() })
  }
}
