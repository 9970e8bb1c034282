// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import coswift

struct TupleTests {
  @Test func `a tuple keeps its values, nil among them (2.1-64)`() {
    let tuple = co_tuple(nil, "1", 2, [1, 2], ["key": "value"])
    #expect(tuple.count == 5)
    #expect(tuple[3] as? [Int] == [1, 2])
    #expect(tuple[0] == nil && tuple[5] == nil && tuple[-1] == nil)
    #expect(tuple.first == nil && tuple.second as? String == "1" && tuple.third as? Int == 2)
    var (a, b, c, d, e): (Int?, String?, Int?, [Int]?, [String: String]?) = (9, nil, nil, nil, nil)
    co_unpack(&a, &b, &c, &d, &e, from: tuple)
    #expect(a == nil && b == "1" && c == 2 && d == [1, 2] && e == ["key": "value"])
    var types: [String] = []
    for value in tuple { types.append(value == nil ? "nil" : "value") }
    #expect(types == ["nil", "value", "value", "value", "value"])
  }

  @Test func `fewer targets ignore the rest, further targets stay as they are (3.4-21)`() {
    var (a, b, c): (Int?, Int?, String?) = (nil, 7, "untouched")
    co_unpack(&a, from: co_tuple(1, 2))
    #expect(a == 1)
    co_unpack(&b, &a, &c, from: co_tuple(3, 4))
    #expect(b == 3 && a == 4 && c == "untouched")
    co_unpack(&b, &c, from: co_tuple("text", 5))
    #expect(b == nil && c == nil)
    #expect(co_tuple().count == 0)
  }

  @Test func `nil is unpacked as nil into a variable of any type`() {
    var value: Any? = "something"
    co_unpack(&value, from: co_tuple(nil))
    #expect(value == nil)
    let nothing: Int? = nil
    value = "something"
    co_unpack(&value, from: co_tuple(nothing))
    #expect(value == nil)
  }

  @Test func `eight values are unpacked`() {
    var (a, b, c, d, e, f, g, h): (Int?, Int?, Int?, Int?, Int?, Int?, Int?, Int?)
    co_unpack(&a, &b, &c, &d, &e, &f, &g, &h, from: co_tuple(1, 2, 3, 4, 5, 6, 7, 8))
    #expect([a, b, c, d, e, f, g, h] == [1, 2, 3, 4, 5, 6, 7, 8])
    co_unpack(&a, &b, &c, &d, &e, &f, &g, from: co_tuple(7, 6, 5, 4, 3, 2, 1))
    co_unpack(&a, &b, &c, &d, &e, &f, from: co_tuple(6, 5, 4, 3, 2, 1))
    co_unpack(&a, &b, &c, &d, from: co_tuple(4, 3, 2, 1))
    co_unpack(&a, &b, &c, from: co_tuple(3, 2, 1))
    #expect([a, b, c, d, e, f, g, h] == [3, 2, 1, 1, 2, 1, 1, 8])
  }

  @Test(.timeLimit(.minutes(30)))
  func `a promise of a tuple gives path, data and error (2.1-65)`() throws {
    func read(_ path: String) -> Promise<COTuple> {
      Promise(on: .global()) { fulfill, _ in
        if let data = FileManager.default.contents(atPath: path) {
          fulfill(co_tuple(path, data, nil))
        } else {
          fulfill(co_tuple(path, nil, NSError(domain: "fileNotFound", code: -1)))
        }
      }
    }
    let directory = FileManager.default.temporaryDirectory
    let file = directory.appending(path: "coswift-\(UUID().uuidString)")
    try Data("content".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try inCoroutine { () throws in
      var (path, data, error): (String?, Data?, NSError?)
      co_unpack(&path, &data, &error, from: try co_await(promise: read(file.path)).get())
      #expect(path == file.path && data?.isEmpty == false && error == nil)
      let missing = file.path + "-missing"
      co_unpack(&path, &data, &error, from: try co_await(promise: read(missing)).get())
      #expect(path == missing && data == nil)
      #expect(error?.domain == "fileNotFound" && error?.code == -1)
    }
  }
}
