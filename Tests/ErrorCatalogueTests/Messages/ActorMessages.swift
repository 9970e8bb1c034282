// SPDX-License-Identifier: Apache-2.0

import Coroutines

private enum Question {
  case answer(Reply<Int>)
}

let actorMessages = Chapter(
  title: "Message actors",
  messages: [
    .thrown(
      "an ask of an actor that has stopped",
      "has stopped",
      at: "The actor \"clerk\"",
      do: "Ask before it is stopped"
    ) {
      try runBlocking {
        let clerk = MessageActor<Question>(name: "clerk") { mailbox in for _ in mailbox {} }
        try clerk.cancelAndJoin()
        _ = try clerk.ask { .answer($0) }.await()
      }
    },
    .thrown(
      "an ask of an actor that ended with an error",
      "because of this error: OutOfInk()",
      at: "The actor made at",
      do: "let a supervisor restart it"
    ) {
      try runBlocking {
        let clerk = MessageActor<Question> { _ in throw OutOfInk() }
        try clerk.join()
        _ = try clerk.ask { .answer($0) }.await()
      }
    },
    .thrown(
      "an ask that the handler does not answer",
      "was abandoned: every copy of its Reply went away",
      at: "The ask at ",
      do: "Answer on every path"
    ) {
      try runBlocking {
        let clerk = MessageActor<Question>(name: "clerk") { mailbox in for _ in mailbox {} }
        defer { clerk.stop() }
        _ = try clerk.ask { .answer($0) }.await()
      }
    },
    .thrown(
      "an ask of an actor that is restarted meanwhile",
      "was restarted by its supervisor",
      at: "The actor \"clerk\"",
      do: "Ask again"
    ) {
      try runBlocking {
        try withSupervisor(strategy: .allForOne) { supervisor in
          let clerk = supervisor.actor(of: Question.self, name: "clerk") { mailbox in
            while case .answer(let reply)? = mailbox.next() {
              try Coroutine.sleep(for: .seconds(60))
              reply(1)
            }
          }
          let isAsked = Channel<Void>()
          supervisor.launch(name: "printer") {
            try isAsked.receive()
            throw OutOfInk()
          }
          let answer = clerk.ask { .answer($0) }
          try Coroutine.yield()
          try isAsked.send(())
          _ = try answer.await()
        }
      }
    },
    .thrown(
      "a message to a full mailbox",
      "has a full mailbox of 1 messages",
      at: "The actor \"clerk\"",
      do: "give it a bigger one"
    ) {
      try runBlocking {
        let clerk = MessageActor<Int>(name: "clerk", capacity: .failing(1)) { _ in
          try Coroutine.sleep(for: .seconds(60))
        }
        defer { clerk.cancel() }
        for number in 1...2 { try clerk.tell(number) }
      }
    },
    .stop(
      "a mailbox that is read by another coroutine",
      "from which only its own body takes messages",
      at: "The actor \"clerk\"",
      do: "take them in the body"
    ) {
      try runBlocking {
        let clerk = MessageActor<Int>(name: "clerk") { mailbox in
          try launch { _ = mailbox.next() }.join()
        }
        try clerk.join()
      }
    },
    .stop(
      "a mailbox that refuses and keeps none",
      "to keep 0 messages",
      at: "A mailbox",
      do: "must keep 1 or more"
    ) {
      _ = MailboxCapacity.failing(0)
    },
  ]
)
