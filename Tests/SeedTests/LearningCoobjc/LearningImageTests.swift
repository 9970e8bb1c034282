// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "Learning coobjc", section "Which problems does coobjc solve?".
@Suite(.timeLimit(.minutes(30))) struct LearningImageTests {
  // "Asynchronous loading of data from the network", with three closures inside one another
  static let callbacks = Scenario(
    "Learning coobjc, an image by callbacks",
    expected: ["caller goes on", "shows 3 x 2 pixels"]
  ) { play in
    guard let server = try? HTTPTestServer(routes: ["/image.pgm": .body(Picture.file)]) else {
      return play.finish()
    }
    let imageView = PictureView()
    let task = URLSession.shared.downloadTask(with: server.url("/image.pgm")) {
      location,
      _,
      error in
      guard error == nil, let location else { return play.finish() }
      // The file is gone when this closure returns, so it is read here; the document reads it later.
      let data = try? Data(contentsOf: location)
      // Decodes on a global queue.
      DispatchQueue.global().async {
        let image = data.flatMap { Picture(data: $0) }
        play.queue.async {
          // Shows the image on the main queue.
          imageView.image = image
          play.log("shows \(imageView.image.map { "\($0)" } ?? "nothing")")
          play.finish()
          withExtendedLifetime(server) {}
        }
      }
    }
    play.log("caller goes on")
    task.resume()
  }

  // The same with coobjc
  static let coroutine = Scenario(
    "Learning coobjc, an image by a coroutine",
    expected: ["caller goes on", "shows 3 x 2 pixels"]
  ) { play in
    guard let server = try? HTTPTestServer(routes: ["/image.pgm": .body(Picture.file)]) else {
      return play.finish()
    }
    let imageView = PictureView()
    func downloadDataFromUrl(_ url: URL) -> COPromise<Data> {
      COPromise { fulfill, reject in
        URLSession.shared.dataTask(with: url) { data, _, error in
          if let data { fulfill(data) } else { reject(error ?? URLError(.unknown)) }
        }
        .resume()
      }
    }
    func imageFromData(_ data: Data) -> COPromise<Picture> {
      COPromise(on: .global()) { fulfill, reject in
        if let image = Picture(data: data) { fulfill(image) } else { reject(NotAPicture()) }
      }
    }
    let loading = co_launch {
      let data = try `await`(promise: downloadDataFromUrl(server.url("/image.pgm"))).get()
      let image = try `await`(promise: imageFromData(data)).get()
      dispatchPrecondition(condition: .onQueue(play.queue))
      imageView.image = image
      play.log("shows \(imageView.image.map { "\($0)" } ?? "nothing")")
    }
    play.log("caller goes on")
    play.finish(after: loading)
  }

  @Test func `three lines of a coroutine do what three nested closures do`() {
    check(Self.callbacks)
    check(Self.coroutine)
  }
}
