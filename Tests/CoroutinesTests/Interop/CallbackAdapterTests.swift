// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// What the adapters are made for: an interface that tells a delegate, held weakly.
private final class Picker: @unchecked Sendable {
  // SAFETY: used by one thread at a time.
  weak var delegate: (any PickerDelegate)?

  func pick(_ number: Int) { delegate?.picker(self, picked: number) }

  func fail() { delegate?.pickerFailed(self) }
}

private protocol PickerDelegate: AnyObject {
  func picker(_ picker: Picker, picked number: Int)
  func pickerFailed(_ picker: Picker)
}

private final class Answer: PickerDelegate {
  let done: CallbackResolver<Int>

  init(_ done: CallbackResolver<Int>) { self.done = done }

  func picker(_ picker: Picker, picked number: Int) { done(number) }

  func pickerFailed(_ picker: Picker) { done(throwing: Failure(9)) }
}

@Suite(.timeLimit(.minutes(30))) struct CallbackAdapterTests {
  // MARK: - Callback to value

  @Test func `a callback's answer is returned, at once or later, from any thread`() throws {
    try runBlocking {
      let early: Int = try awaitCallback { done in done(1) }
      #expect(early == 1)
      let late: Int = try awaitCallback { done in DispatchQueue.global().async { done(2) } }
      #expect(late == 2)
      try awaitCallback { done in launch { done() } }
    }
  }

  @Test func `results, errors, and pairs of a value and an error are understood`() throws {
    try runBlocking {
      let result = Result<Int, Failure>.success(1)
      try #expect(awaitCallback { $0(result) } == 1)
      try #expect(awaitCallback { (done: CallbackResolver<Int>) in done(2, nil) } == 2)
      #expect(throws: Failure(3)) {
        try awaitCallback { (done: CallbackResolver<Int>) in done(nil, Failure(3)) }
      }
      #expect(throws: Failure(4)) {
        try awaitCallback { (done: CallbackResolver<Int>) in done(throwing: Failure(4)) }
      }
      #expect(throws: Failure(5)) {
        try awaitCallback { (_: CallbackResolver<Int>) in throw Failure(5) }
      }
      #expect(throws: PromiseError.abandoned) {
        try awaitCallback { (done: CallbackResolver<Int>) in done(nil, nil) }
      }
    }
  }

  @Test func `the second answer is ignored, and none at all is no hang (rule 9)`() throws {
    try runBlocking {
      let first: Int = try awaitCallback { done in
        #expect(done(1))
        #expect(!done(2))
        #expect(!done(throwing: Failure()))
      }
      #expect(first == 1)
      #expect(throws: PromiseError.abandoned) {
        try awaitCallback { (done: CallbackResolver<Int>) in
          DispatchQueue.global().async { withExtendedLifetime(done) {} }
        }
      }
    }
  }

  @Test func `others run while an answer is awaited, and cancelling stops what was begun`() throws {
    try runBlocking {
      let log = SharedLog<String>()
      let kept = Steps<CallbackResolver<Int>>()
      let waiter = launch {
        try awaitCallback(onCancel: { log.add("stopped") }) { done in kept.add(done) }
      }
      try letOthersRun()
      #expect(waiter.state == .suspended)
      try waiter.cancelAndJoin()
      #expect(log.entries == ["stopped"])
      #expect(kept.entries.map { $0(1) } == [false])
    }
  }

  @Test func `outside a coroutine nothing is begun (rule 12)`() {
    #expect(throws: CoroutineError.outsideCoroutine) {
      try awaitCallback { (_: CallbackResolver<Int>) in Issue.record("begun") }
    }
  }

  // MARK: - Delegate to promise

  @Test func `a delegate settles the promise, which keeps it alive until then`() throws {
    try runBlocking {
      let picker = Picker()
      let promise = Promise.delegated(by: Answer.init) { picker.delegate = $0 }
      #expect(picker.delegate != nil)
      launch { picker.pick(7) }
      try #expect(promise.await() == 7)
      #expect(picker.delegate == nil)
    }
  }

  @Test func `a delegate rejects, a start that throws does too`() throws {
    try runBlocking {
      let picker = Picker()
      let promise = Promise.delegated(by: Answer.init) { picker.delegate = $0 }
      picker.fail()
      #expect(throws: Failure(9)) { try promise.await() }
      let broken = Promise.delegated(by: Answer.init) { _ in throw Failure(8) }
      #expect(throws: Failure(8)) { try broken.await() }
    }
  }

  @Test func `cancelling the promise stops what was begun and lets the delegate go`() throws {
    try runBlocking {
      let picker = Picker()
      var stopped = 0
      let promise = Promise.delegated(by: Answer.init, onCancel: { _ in stopped += 1 }) {
        picker.delegate = $0
      }
      promise.cancel()
      #expect(stopped == 1)
      #expect(picker.delegate == nil)
      #expect(throws: PromiseError.cancelled) { try promise.await() }
    }
  }

  // MARK: - Callbacks to generator

  @Test func `what a function hands to its callback comes one by one`() {
    let steps = Steps<String>()
    let numbers = Generator<Int>.callbacks { emit in
      [1, 2, 3].forEach { number in
        steps.add("emit \(number)")
        _ = emit(number)
      }
    }
    #expect(steps.entries.isEmpty)
    #expect(numbers.next() == 1)
    #expect(steps.entries == ["emit 1"])
    #expect(Array(numbers) == [2, 3])
  }

  @Test func `a callback is told when no more is wanted, and may go on without harm`() {
    let steps = Steps<Bool>()
    let numbers = Generator<Int>.callbacks { emit in
      for number in 1...4 { steps.add(emit(number)) }
    }
    for number in numbers where number == 2 { break }
    #expect(steps.entries == [true, false, false, false])
  }

  @Test func `a callback called on another thread is refused, and no more is wanted`() throws {
    try runBlocking {
      let steps = Steps<Bool>()
      let numbers = Generator<Int>.callbacks { emit in
        steps.add(emit(1))
        nonisolated(unsafe) let emit = emit
        let called = DispatchSemaphore(value: 0)
        let answer = Steps<Bool>()
        nonisolated(unsafe) let answers = answer
        DispatchQueue.global().async {
          answers.add(emit(2))
          called.signal()
        }
        called.wait()
        steps.add(answer.entries == [false])
        steps.add(emit(3))
      }
      #expect(Array(numbers) == [1])
      #expect(steps.entries == [true, true, false])
      #expect(numbers.error is CancellationError)
    }
  }

  @Test func `what the function throws is thrown at its place`() throws {
    let numbers = Generator<Int>.callbacks { emit in
      _ = emit(1)
      throw Failure(2)
    }
    try #expect(numbers.nextOrThrow() == 1)
    #expect(throws: Failure(2)) { try numbers.nextOrThrow() }
    let good = Generator<Int>.callbacks { emit in _ = emit(1) }
    _ = try good.nextOrThrow()
    try #expect(good.nextOrThrow() == nil)
  }

  // MARK: - Events to generator

  @Test func `events from other threads come in order, and then the end`() throws {
    try runBlocking {
      let log = SharedLog<String>()
      let events = Generator<Int>.events { sink in
        DispatchQueue.global().async {
          for number in 1...100 { sink.send(number) }
          sink.finish()
        }
        return { log.add("stopped") }
      }
      #expect(Array(events) == Array(1...100))
      #expect(events.error == nil)
      #expect(log.entries == ["stopped"])
    }
  }

  @Test func `events end with an error, after those before it`() throws {
    try runBlocking {
      let events = Generator<Int>.events { sink in
        sink.send(1)
        sink.finish(throwing: Failure(3))
        #expect(!sink.send(2))
        return {}
      }
      #expect(Array(events) == [1])
      #expect(events.error as? Failure == Failure(3))
    }
  }

  @Test func `leaving the loop ends the registration, once`() throws {
    try runBlocking {
      var registered = 0
      let events = Generator<Int>.events(.conflated) { sink in
        registered += 1
        for number in 1...3 { sink.send(number) }
        return { registered -= 1 }
      }
      #expect(registered == 0)
      for number in events {
        #expect(number == 3)
        #expect(registered == 1)
        break
      }
      #expect(registered == 0)
    }
  }

  @Test func `waiting for an event parks, and cancelling ends the events (rule 2)`() throws {
    try runBlocking {
      let log = SharedLog<String>()
      let reader = launch {
        let events = Generator<Int>.events { _ in { log.add("stopped") } }
        for _ in events {}
        return events.error is CancellationError
      }
      try letOthersRun()
      #expect(reader.state == .suspended)
      reader.cancel()
      try #expect(reader.value())
      #expect(log.entries == ["stopped"])
    }
  }
}
