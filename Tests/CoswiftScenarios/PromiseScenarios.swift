// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

/// The step that an await's outcome makes.
private func words<Value>(_ resolution: Resolution<Value>) -> String {
  switch resolution {
  case .fulfilled(let value): "\(value)"
  case .rejected(let error as COError): "\(error)"
  case .rejected(let error): "\((error as NSError).domain) \((error as NSError).code)"
  }
}

extension Scenario {
  static let promiseScenarios = [
    Scenario(
      25,
      "two awaits, one after the other, while the caller goes on",
      expected: [
        "before", "after", "download", "decode of data", "image of data is set on the queue",
      ]
    ) { play in
      let queue = play.queue
      func download() -> Promise<String> {
        Promise(on: .global()) { fulfill, _ in
          play.log("download")
          fulfill("data")
        }
      }
      func decode(_ data: String) -> Promise<String> {
        Promise(on: .global()) { fulfill, _ in
          play.log("decode of \(data)")
          fulfill("image of \(data)")
        }
      }
      play.log("before")
      co_launch {
        let data = try co_await(promise: download()).get()
        let image = try co_await(promise: decode(data)).get()
        dispatchPrecondition(condition: .onQueue(queue))
        play.log("\(image) is set on the queue")
        play.finish()
      }
      play.log("after")
    },
    Scenario(
      26,
      "an await returns what a later block fulfils",
      expected: ["Hello coobjc!"]
    ) { play in
      let promise = Promise<String>()
      co_launch {
        play.log(words(try co_await(promise: promise)))
        play.finish()
      }
      play.queue.async { promise.fulfill(value: "Hello coobjc!") }
    },
    Scenario(
      27,
      "an await returns the error that a later block rejects with",
      expected: ["COPromise -100", "co_getError: -100"]
    ) { play in
      let promise = Promise<String>()
      co_launch {
        play.log(words(try co_await(promise: promise)))
        play.log("co_getError: \((co_getError() as NSError?)?.code ?? 0)")
        play.finish()
      }
      play.queue.async { promise.reject(error: NSError(domain: "COPromise", code: -100)) }
    },
    Scenario(
      28,
      "a constructor may fulfil later",
      expected: ["Say Hello To Coobjc"]
    ) { play in
      let queue = play.queue
      let promise = Promise<String> { fulfill, _ in
        queue.asyncAfter(deadline: .now() + 0.05) { fulfill("Say Hello To Coobjc") }
      }
      co_launch {
        play.log(words(try co_await(promise: promise)))
        play.finish()
      }
    },
    Scenario(
      29,
      "cancelling an awaited promise: onCancel, then catch, then the await",
      expected: ["onCancel", "catch", "await: promiseCancelled", "error: promiseCancelled"]
    ) { play in
      let promise = Promise<String>()
      promise.onCancel { _ in play.log("onCancel") }
      promise.catch { _ in play.log("catch") }
      co_launch {
        play.log("await: \(words(try co_await(promise: promise)))")
        play.log("error: \((promise.error as? COError).map { "\($0)" } ?? "none")")
        play.finish()
      }
      play.queue.async { promise.cancel() }
    },
    Scenario(
      30,
      "then with a promise gives that promise's value",
      expected: ["123456"]
    ) { play in
      let promise = Promise<String> { fulfill, _ in fulfill("123") }
      let chained = promise.then { value in
        Promise<String> { fulfill, _ in fulfill(value + "456") }
      }
      co_launch {
        play.log(words(try co_await(promise: chained)))
        play.finish()
      }
    },
    Scenario(
      31,
      "batch_await returns all outcomes in the order of the promises",
      expected: ["[\"1\", \"2\", \"error 3\"]"]
    ) { play in
      let queue = play.queue
      let promises = [(0.06, "1"), (0.03, "2")].map { delay, text in
        Promise<String> { fulfill, _ in
          queue.asyncAfter(deadline: .now() + delay) { fulfill(text) }
        }
      }
      let failing = Promise<String> { _, reject in reject(NSError(domain: "error", code: 3)) }
      co_launch {
        play.log("\(try batch_await(promises + [failing]).map { words($0) })")
        play.finish()
      }
    },
    Scenario(
      33,
      "a constructor on a global queue: the value comes later, the error at once",
      expected: ["1", "no error", "error 10000"]
    ) { play in
      let good = Promise<Int>(on: .global()) { fulfill, _ in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { fulfill(1) }
      }
      let bad = Promise<Int>(on: .global()) { _, reject in
        reject(NSError(domain: "error", code: 10000))
      }
      co_launch {
        play.log(words(try co_await(promise: good)))
        play.log(co_getError() == nil ? "no error" : "error")
        // It has long been rejected.
        play.log(words(try co_await(promise: bad)))
        play.finish()
      }
    },
    Scenario(
      35,
      "a callback's failure ends the handler early",
      expected: ["no response", "error 404"]
    ) { play in
      func get(_ path: String) -> Promise<String> {
        Promise { fulfill, reject in
          DispatchQueue.global().async {
            if path.isEmpty { reject(NSError(domain: "error", code: 404)) } else { fulfill(path) }
          }
        }
      }
      co_launch {
        defer { play.finish() }
        let response = try co_await(promise: get(""))
        guard case .fulfilled(let body) = response, co_getError() == nil else {
          play.log("no response")
          play.log(words(response))
          return
        }
        play.log("body \(body)")
      }
    },
  ]
}
