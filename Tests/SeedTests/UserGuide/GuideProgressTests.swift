// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "User guide", section 4, "COProgressPromise".
@Suite(.timeLimit(.minutes(30))) struct GuideProgressTests {
  // progressDownloadFileFromUrl, the branch "Fallback on earlier versions": ten units, one at each tick of a
  // timer, which onCancel stops. The timer is on the coroutine's queue, not on a global one: Foundation's
  // Progress has no lock on Linux. Nor has its task a Progress there, which the first branch hands over.
  private static func progressDownload(
    from url: URL,
    on queue: DispatchQueue,
    whenFull: @escaping @Sendable () -> Void
  ) -> (COProgressPromise<Data>, any DispatchSourceTimer) {
    let promise = COProgressPromise<Data>()
    let task = URLSession.shared.dataTask(with: url) { data, _, error in
      if let error { promise.reject(error: error) } else { promise.fulfill(value: data ?? Data()) }
    }
    task.resume()
    let progress = Foundation.Progress(totalUnitCount: 10)
    promise.setupWithProgress(progress)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    timer.setEventHandler {
      if progress.completedUnitCount < progress.totalUnitCount {
        progress.completedUnitCount += 1
      } else {
        timer.cancel()
        whenFull()
      }
    }
    timer.resume()
    promise.onCancel { _ in
      timer.cancel()
      task.cancel()
    }
    return (promise, timer)
  }

  @Test func `a download tells how far it has come, and then gives its data`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/image.pgm": .after(gate, .body(Picture.file))])
    let seen = Bag<Double>()
    let length = Cell(0)
    let queue = DispatchQueue(label: "guide")
    try inCoroutine(on: queue) {
      // The answer comes when the bar is full, so all fractions come before it.
      let url = server.url("/image.pgm")
      let (promise, _) = Self.progressDownload(from: url, on: queue) { gate.open() }
      var progressCount = 0
      for p in promise {
        seen.add(p)
        progressCount += 1
      }
      #expect(progressCount > 0)
      length.value = try co_await(promise: promise).get().count
    }
    #expect(length.value == Picture.file.count)
    #expect(seen.contents == seen.contents.sorted())
    #expect(seen.contents.allSatisfy { (0...1).contains($0) })
    #expect(seen.contents.last == 1)
  }

  @Test func `cancelling the promise stops its timer and its task`() throws {
    let server = try HTTPTestServer(routes: ["/image.pgm": .silent])
    let isRejected = Cell(false)
    let queue = DispatchQueue(label: "guide")
    try inCoroutine(on: queue) {
      let (promise, timer) = Self.progressDownload(from: server.url("/image.pgm"), on: queue) {}
      #expect(server.wait { $0.active == 1 })
      promise.cancel()
      #expect(timer.isCancelled)
      // Foundation on Linux stops the program when a task's connection fails at the moment of its
      // cancellation, so the server has to live until it is closed.
      #expect(server.wait { $0.active == 0 })
      if case .rejected(let error) = try co_await(promise: promise) {
        isRejected.value = isPromiseCancelled(error)
      }
    }
    #expect(isRejected.value == true)
  }
}
