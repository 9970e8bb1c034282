// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation
import Testing
import coswift

// As a file was written for coswift in 2019; only `await` has its backticks. It is compiled in Swift 5
// mode.

class RequestResult {
  var data: Data?
  var name: String

  init(data: Data?, name: String) {
    self.data = data
    self.name = name
  }
}

class DataService {
  static let shared = DataService()
  let queue = DispatchQueue(label: "data service")
  var requests = 0

  func co_fetchSomethingAsynchronous(fail: Bool = false) -> Promise<RequestResult> {
    let promise = Promise<RequestResult>(constructor: { (fulfill, reject) in
      self.queue.async {
        self.requests += 1
        if fail {
          reject(NSError(domain: "DataService", code: -1, userInfo: nil))
        } else {
          fulfill(RequestResult(data: "hello".data(using: .utf8), name: "hello"))
        }
      }
    })
    promise.onCancel { (promiseObj) in
      print("cancelled \(promiseObj.isRejected)")
    }
    return promise
  }

  func co_fetchSomething() -> Chan<String> {
    let chan = Chan<String>(buffCount: 1)
    queue.async {
      chan.send_nonblock(val: "the result")
    }
    return chan
  }

  func fetchWeatherData() throws -> String {
    var ret = ""
    let result = try `await`(closure: {
      self.co_fetchSomethingAsynchronous()
    })
    switch result {
    case .fulfilled(let request):
      if let data = request.data, let str = String(data: data, encoding: String.Encoding.utf8) {
        ret = str
      }
    case .rejected(let error):
      print("error: \(error)")
    }
    return ret
  }
}

/// Runs a coroutine on a queue and waits until it has ended.
func wait(for body: @escaping () throws -> Void) {
  let queue = DispatchQueue(label: "MyQueue")
  let done = DispatchSemaphore(value: 0)
  co_launch(queue: queue, stackSize: 128 * 1024) {
    defer { done.signal() }
    do {
      try body()
    } catch {
      Issue.record(error)
    }
  }
  #expect(done.wait(timeout: .now() + 300) == .success)
}

@Suite(.timeLimit(.minutes(30)))
struct OldFileTests {
  @Test func `a service that was written for coswift works (2.1-36)`() {
    wait {
      #expect(try DataService.shared.fetchWeatherData() == "hello")
      let resultStr = try `await`(channel: DataService.shared.co_fetchSomething())
      #expect(resultStr == "the result")
      let viaClosure: String = try `await` { DataService.shared.co_fetchSomething() }
      #expect(viaClosure == "the result")

      let result = try `await`(
        promise: DataService.shared.co_fetchSomethingAsynchronous(fail: true)
      )
      switch result {
      case .fulfilled(_):
        Issue.record("was fulfilled")
        break
      case .rejected(let error):
        #expect((error as NSError) == NSError(domain: "DataService", code: -1, userInfo: nil))
        break
      }
    }
  }

  @Test func `captured variables are changed by coroutines of one queue`() {
    var step = 0
    let done = DispatchSemaphore(value: 0)
    let queue = DispatchQueue(label: "steps")
    let chan = Chan<String>(buffCount: 0)
    let co = co_launch(queue: queue) {
      step = 1
      try chan.send(val: "111")
      #expect(step == 4)
      step = 2
    }
    let co1 = co_launch(queue: queue) {
      #expect(step == 1)
      step = 3
      let val = chan.receive_nonblock()
      #expect(val == "111")
      #expect(step == 3)
      step = 4
    }
    co_launch(queue: queue) {
      co.join()
      co1.join()
      #expect(step == 2)
      done.signal()
    }
    #expect(done.wait(timeout: .now() + 300) == .success)
  }

  @Test func `generators yield values and each other's values`() {
    wait {
      var step = 0
      let sq1 = co_sequence(Int.self) {
        var i = 0
        while true {
          try yield { i }
          step = i
          i += 1
        }
      }
      let sq2 = co_sequence(Int.self) {
        while true {
          try yield { try sq1.next() }
        }
      }
      for i in 0..<10 {
        let val = try sq2.next()
        #expect(val == i)
      }
      sq1.cancel()
      sq2.cancel()
      sq1.join()
      sq2.join()
      // The tenth value was taken, and nothing after its yield has run.
      #expect(step == 8)
    }
  }

  @Test func `promises chain with both forms of then`() {
    wait {
      let promise = Promise<String>()
      DispatchQueue.global().async { promise.fulfill(value: "123") }
      var caught = false
      let chained =
        promise
        .then(work: { (retStr) -> Data in
          #expect(retStr == "123")
          return retStr.data(using: String.Encoding.utf8)!
        })
        .then(work: { (data) -> Promise<Int> in
          Promise<Int>(constructor: { (fulfill, _) in
            fulfill(data.count)
          })
        })
        .catch(reject: { (error) in
          caught = true
        })
      let result = try `await` { chained }
      if case .fulfilled(let count) = result { #expect(count == 3) }
      #expect(!caught)
      #expect(chained.value == 3)
    }
  }

  @Test func `a subclass of Coroutine works`() {
    class Named: Coroutine, @unchecked Sendable {
      var name = ""
    }
    let done = DispatchSemaphore(value: 0)
    let named = Named(
      block: {
        #expect((Coroutine.current() as? Named)?.name == "n")
      },
      on: DispatchQueue(label: "named"),
      stackSize: nil
    )
    named.name = "n"
    named.finishedBlock = { done.signal() }
    _ = named.resume()
    #expect(done.wait(timeout: .now() + 300) == .success)
    #expect(named.lastError == nil)
  }
}
