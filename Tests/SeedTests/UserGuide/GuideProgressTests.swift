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
@Suite(.timeLimit(.minutes(10))) struct GuideProgressTests {
  // progressDownloadFileFromUrl, the branch "Fallback on earlier versions": ten units, one at each tick of a
  // timer, which onCancel stops. The first branch watches the task's NSProgress, which cannot be done on
  // Linux (no key-value observing): GuideFoundationProgressTests has what stands in.
  private static func progressDownload(
    from url: URL,
    whenFull: @escaping @Sendable () -> Void
  ) -> (COProgressPromise<Data>, any DispatchSourceTimer) {
    let promise = COProgressPromise<Data>()
    let task = URLSession.shared.dataTask(with: url) { data, _, error in
      if let error { promise.reject(error: error) } else { promise.fulfill(value: data ?? Data()) }
    }
    task.resume()
    let progress = Cell(0)
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    timer.setEventHandler {
      let completedUnitCount = progress.value ?? 0
      if completedUnitCount < 10 {
        progress.value = completedUnitCount + 1
        promise.progress(Double(completedUnitCount + 1) / 10)
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
    try inCoroutine {
      // The answer comes when the bar is full, so all fractions come before it.
      let (promise, _) = Self.progressDownload(from: server.url("/image.pgm")) { gate.open() }
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
    try inCoroutine {
      let (promise, timer) = Self.progressDownload(from: server.url("/image.pgm")) {}
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
