// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "Coroutines of iOS", section "Error handling", twice in the document.
@Suite(.timeLimit(.minutes(30))) struct IOSErrorTests {
  // The request of a networking library: GET:parameters:progress:success:failure:
  private static func get(
    _ url: URL,
    success: @escaping @Sendable (Data) -> Void,
    failure: @escaping @Sendable (any Error) -> Void
  ) {
    URLSession.shared.dataTask(with: url) { data, _, error in
      if let error { failure(error) } else { success(data ?? Data()) }
    }
    .resume()
  }

  // co_GET:parameters: (the document forgets to return the promise)
  private static func co_GET(_ url: URL) -> COPromise<Data> {
    let promise = COPromise<Data>()
    get(
      url,
      success: { promise.fulfill(value: $0) },
      failure: { promise.reject(error: $0) }
    )
    return promise
  }

  @Test func `a request that fails rejects, and co_getError says why`() throws {
    let server = try HTTPTestServer(routes: ["/feed": .reset])
    let log = Log()
    try inCoroutine {
      let response = try `await`(promise: Self.co_GET(server.url("/feed")))
      if let error = co_getError() {
        log("error, \(error is URLError)")
        return
      }
      log("\(response)")
    }
    #expect(log.entries == ["error, true"])
  }

  @Test func `a request that succeeds leaves no error`() throws {
    let server = try HTTPTestServer(routes: ["/feed": .text("news")])
    let log = Log()
    try inCoroutine {
      let response = try `await`(promise: Self.co_GET(server.url("/feed")))
      if co_getError() != nil { return }
      log(String(decoding: try response.get(), as: UTF8.self))
    }
    #expect(log.entries == ["news"])
  }
}
