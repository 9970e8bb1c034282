// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "Coroutines of iOS", section "Asynchronous operations wrapped in promises".
@Suite(.timeLimit(.minutes(30))) struct IOSPromiseTests {
  // asyncPromiseDownloadDataFromURL: the blocking call runs on a global queue.
  private static func asyncPromiseDownloadData(from url: URL) -> COPromise<Data> {
    let promise = COPromise<Data>()
    DispatchQueue.global(qos: .utility).async {
      do {
        promise.fulfill(value: try Data(contentsOf: url))
      } catch {
        promise.reject(error: error)
      }
    }
    return promise
  }

  // asyncPromiseDecodeImageData
  private static func asyncPromiseDecodeImage(_ data: Data) -> COPromise<Picture> {
    let promise = COPromise<Picture>()
    DispatchQueue.global(qos: .utility).async {
      if let image = Picture(data: data) {
        promise.fulfill(value: image)
      } else {
        promise.reject(error: NotAPicture())
      }
    }
    return promise
  }

  // testCoobjcAsyncPromise
  static let pipeline = Scenario(
    "Coroutines of iOS, promises",
    expected: ["before", "after", "downloaded 31 bytes", "decoded", "shows 3 x 2 pixels"]
  ) { play in
    guard let server = try? HTTPTestServer(routes: ["/image.pgm": .body(Picture.file)]) else {
      return play.finish()
    }
    let url = server.url("/image.pgm")
    let imageView = PictureView()
    play.log("before")
    let coroutine = co_launch {
      let imageData = try `await`(promise: asyncPromiseDownloadData(from: url)).get()
      play.log("downloaded \(imageData.count) bytes")
      let image = try `await`(promise: asyncPromiseDecodeImage(imageData)).get()
      play.log("decoded")
      dispatchPrecondition(condition: .onQueue(play.queue))
      imageView.image = image
      play.log("shows \(imageView.image.map { "\($0)" } ?? "nothing")")
    }
    play.log("after")
    play.finish(after: coroutine) { withExtendedLifetime(server) {} }
  }

  @Test func `an image is downloaded, decoded and shown by code that reads from top to bottom`() {
    check(Self.pipeline)
  }

  @Test func `a failure in the middle is an error at the await`() throws {
    let server = try HTTPTestServer(routes: ["/image.pgm": .text("no picture")])
    let log = Log()
    try inCoroutine {
      let data = try `await`(
        promise: Self.asyncPromiseDownloadData(from: server.url("/image.pgm"))
      ).get()
      let image = try `await`(promise: Self.asyncPromiseDecodeImage(data))
      if case .rejected(let error) = image { log("\(type(of: error))") }
    }
    #expect(log.entries == ["NotAPicture"])
  }

  // "Swift can use it, too": await(channel:)
  @Test func `awaiting a channel gives what is sent`() throws {
    func co_fetchSomething() -> Chan<String> {
      let channel = Chan<String>(buffCount: 1)
      DispatchQueue.global().async { channel.send_nonblock(val: "something") }
      return channel
    }
    let log = Log()
    try inCoroutine {
      let result = try `await`(channel: co_fetchSomething())
      log(result)
    }
    #expect(log.entries == ["something"])
  }

  // "Swift can use it, too": await(promise:), with the switch
  @Test(arguments: [true, false])
  func `awaiting a promise gives fulfilled or rejected`(_ isGood: Bool) throws {
    func co_fetchSomethingAsynchronous() -> Promise<Data> {
      Promise { fulfill, reject in
        DispatchQueue.global().async {
          if isGood { fulfill(Data("data".utf8)) } else { reject(URLError(.timedOut)) }
        }
      }
    }
    let log = Log()
    try inCoroutine {
      let result = try `await`(promise: co_fetchSomethingAsynchronous())
      switch result {
      case .fulfilled(let data): log(String(decoding: data, as: UTF8.self))
      case .rejected(let error): log("error \((error as? URLError)?.code == .timedOut)")
      }
    }
    #expect(log.entries == [isGood ? "data" : "error true"])
  }
}
