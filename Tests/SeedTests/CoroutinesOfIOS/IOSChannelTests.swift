// SPDX-License-Identifier: Apache-2.0

import CoroutinesFoundation
import CoswiftScenarios
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

/// "Coroutines of iOS", section "Using channels".
@Suite(.timeLimit(.minutes(30))) struct IOSChannelTests {
  // asyncChannelDownloadDataFromURL. The document blocks its queue with dataWithContentsOfURL in the
  // coroutine; the wrapper parks it (C9: wrappers, no hook).
  private static func asyncChannelDownloadData(from url: URL) -> COChan<Data> {
    let chan = COChan<Data>()
    co_launch {
      let imageData = try Data.co.contents(of: url)
      try chan.send(val: imageData)
    }
    return chan
  }

  // asyncChannelDecodeImageData
  private static func asyncChannelDecodeImage(_ data: Data) -> COChan<Picture> {
    let chan = COChan<Picture>()
    co_launch {
      guard let image = Picture(data: data) else { throw NotAPicture() }
      try chan.send(val: image)
    }
    return chan
  }

  // testCoobjcAsyncChannel
  static let pipeline = Scenario(
    "Coroutines of iOS, channels",
    expected: ["before", "after", "downloaded 31 bytes", "shows 3 x 2 pixels"]
  ) { play in
    guard let server = try? HTTPTestServer(routes: ["/image.pgm": .body(Picture.file)]) else {
      return play.finish()
    }
    let url = server.url("/image.pgm")
    let imageView = PictureView()
    play.log("before")
    let coroutine = co_launch {
      let imageData = try `await`(channel: asyncChannelDownloadData(from: url))
      play.log("downloaded \(imageData.count) bytes")
      let image = try `await`(channel: asyncChannelDecodeImage(imageData))
      dispatchPrecondition(condition: .onQueue(play.queue))
      imageView.image = image
      play.log("shows \(imageView.image.map { "\($0)" } ?? "nothing")")
    }
    play.log("after")
    play.finish(after: coroutine) { withExtendedLifetime(server) {} }
  }

  @Test func `the same image comes through channels that coroutines send into`() {
    check(Self.pipeline)
  }
}
