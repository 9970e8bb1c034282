// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Coroutines of iOS", sections "Making generators" and "What is good about it?".
@Suite(.timeLimit(.minutes(30))) struct IOSGeneratorTests {
  // co_sequence, yield_val, next
  static let numbers = Scenario(
    "Coroutines of iOS, generators",
    expected: ["[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"]
  ) { play in
    let co1 = co_sequence(Int.self) {
      var index = 0
      while co_isActive {
        try yield { index }
        index += 1
      }
    }
    let reader = co_launch {
      var values: [Int] = []
      for _ in 0..<10 { values.append(try co1.next()) }
      play.log("\(values)")
    }
    play.finish(after: reader)
  }

  @Test func `ten calls of next give the first ten numbers`() {
    check(Self.numbers)
  }

  // sequenceOnBackgroundQueue, take, and co: names that only this document has (C10).
  static let messages = Scenario(
    "Coroutines of iOS, what is good about generators",
    expected: (1...10).map { "message \($0) for xxx" } + ["asked 10 times"]
  ) { play in
    let unreadMessageCount = 10
    let userId = "xxx"
    let questions = Counter()
    // queryOneNewMessageForUserWithId
    func queryOneNewMessage(for user: String) -> String {
      dispatchPrecondition(condition: .notOnQueue(play.queue))
      return "message \(questions.add()) for \(user)"
    }
    let messageSequence = sequenceOnBackgroundQueue("message_queue", String.self) {
      while true { try yield { queryOneNewMessage(for: userId) } }
    }
    let isQuitCurrentView = false
    let display = co {
      for _ in 0..<unreadMessageCount where !isQuitCurrentView {
        let message = try messageSequence.take()
        dispatchPrecondition(condition: .onQueue(play.queue))
        play.log(message)
      }
      play.log("asked \(questions.value) times")
    }
    play.finish(after: display)
  }

  @Test func `the consumer says when the producer, on its own queue, loads the next message`() {
    check(Self.messages)
  }
}
