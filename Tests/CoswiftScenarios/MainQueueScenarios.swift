// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

/// A task that calls back on some other thread.
private func task(_ value: Int?, _ error: String?, _ play: Play, _ name: String) -> RJAsyncClosure {
  { callback in
    play.log("\(name) starts")
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { callback(value, error) }
  }
}

extension Scenario {
  /// What needs a main queue that is served.
  public static let mainQueueOnly = [
    Scenario(
      70,
      "three tasks one after the other, each with value and error, on the main queue",
      expected: [
        "caller goes on", "a starts", "a 1 nil", "b starts", "b nil bad", "c starts", "c 3 odd",
        "finally",
      ]
    ) { play in
      rj_async {
        for (name, value, error) in [("a", 1, nil), ("b", nil, "bad"), ("c", 3, "odd")]
          as [(String, Int?, String?)]
        {
          let result = try rj_await(task(value, error, play, name))
          dispatchPrecondition(condition: .onQueue(.main))
          play.log(
            "\(name) \(result.value as? Int ?? 0) \(result.error as? String ?? "nil")"
              .replacingOccurrences(of: " 0 ", with: " nil ")
          )
        }
      }
      .finally {
        dispatchPrecondition(condition: .onQueue(.main))
        play.log("finally")
        play.finish()
      }
      play.log("caller goes on")
    },
    Scenario(
      71,
      "closures, promises and plain objects can be awaited (3.5-r10)",
      expected: [
        "closure 1", "closure 11", "promise 2", "rejected 3", "object 4", "nil", "finally",
      ]
    ) { play in
      rj_async {
        let closure: RJAsyncClosure = { callback in callback(1, nil) }
        play.log("closure \(try rj_await(closure).value ?? "?")")
        let plain: (@escaping (Any?, Any?) -> Void) -> Void = { callback in callback(11, nil) }
        play.log("closure \(try rj_await(plain).value ?? "?")")
        let promise = Promise<Int>(on: .global()) { fulfill, _ in fulfill(2) }
        play.log("promise \(try rj_await(promise).value ?? "?")")
        dispatchPrecondition(condition: .onQueue(.main))
        let failing = Promise<Int> { _, reject in reject(NSError(domain: "error", code: 3)) }
        play.log("rejected \((try rj_await(failing).error as? NSError)?.code ?? 0)")
        play.log("object \(try rj_await(4).value ?? "?")")
        play.log("\(try rj_await(nil).value.map { "\($0)" } ?? "nil")")
      }
      .finally {
        play.log("finally")
        play.finish()
      }
    },
    Scenario(
      71,
      "a task's second callback is ignored, one that is dropped is an error (3.5-r8, 3.5-r9)",
      expected: ["first 1", "second 2", "dropped", "finally"]
    ) { play in
      rj_async {
        let twice: RJAsyncClosure = { callback in
          callback(1, nil)
          callback(99, nil)
        }
        play.log("first \(try rj_await(twice).value ?? "?")")
        play.log("second \(try rj_await(2).value ?? "?")")
        let never: RJAsyncClosure = { _ in }
        if try rj_await(never).error as? RJError == .neverCalledBack { play.log("dropped") }
      }
      .finally {
        play.log("finally")
        play.finish()
      }
    },
    Scenario(
      71,
      "finally runs after an early return, in order, and when it comes too late (3.5-r11)",
      expected: ["returned early", "first", "second", "late"]
    ) { play in
      let epilog = rj_async {
        if try rj_await(1).value as? Int == 1 {
          play.log("returned early")
          return
        }
        play.log("not reached")
      }
      epilog.finally { play.log("first") }
      epilog.finally {
        play.log("second")
        DispatchQueue.main.async {
          epilog.finally {
            play.log("late")
            play.finish()
          }
        }
      }
    },
    Scenario(
      71,
      "a block of rj_async that is a child is cancelled with its parent, and unwinds",
      expected: ["waits", "threw coroutineCancelled", "finally"]
    ) { play in
      let parent = co_launch {
        rj_async {
          play.log("waits")
          let pending = Promise<Int>()
          do {
            try rj_await(pending)
          } catch let error as COError {
            play.log("threw \(error)")
            throw error
          }
        }
        .finally {
          play.log("finally")
          play.finish()
        }
        try co_delay(60)
      }
      co_launch {
        try co_delay(0.02)
        parent.cancel()
      }
    },
    Scenario(
      13,
      "co_launch with no queue on the main thread goes to the main queue",
      expected: ["on the main queue"]
    ) { play in
      co_launch {
        dispatchPrecondition(condition: .onQueue(.main))
        play.log("on the main queue")
        play.finish()
      }
    },
  ]
}
