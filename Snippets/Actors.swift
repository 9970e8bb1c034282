// SPDX-License-Identifier: Apache-2.0

import Coroutines

enum Account {
  case deposit(Int)
  case withdraw(Int, Reply<Int>)
  case audit(Reply<String>)
}

struct Overdrawn: Error {}

try runBlocking {
  let account = MessageActor<Account>(name: "account") { mailbox in
    var balance = 0  // the state: nobody else can reach it
    for message in mailbox {
      switch message {
      case .deposit(let amount):
        balance += amount
      case .withdraw(let amount, let reply):
        reply.answer {
          guard amount <= balance else { throw Overdrawn() }
          balance -= amount
          return balance
        }
      case .audit(let reply):
        // Waiting here would make all others wait: a coroutine for this message does it.
        launch { [balance] in
          try Coroutine.sleep(for: .milliseconds(10))
          reply("audited at \(balance)")
        }
      }
    }
  }
  try account.tell(.deposit(10))
  let audit = account.ask { .audit($0) }
  print(try account.ask { .withdraw(7, $0) }.await())  // prints 3
  do {
    _ = try account.ask { .withdraw(7, $0) }.await()
  } catch is Overdrawn { print("overdrawn") }  // prints overdrawn
  print(try audit.await())  // prints audited at 10

  account.cancel()
  do {
    _ = try account.ask { .withdraw(1, $0) }.await()
  } catch MessageActorError.stopped { print("closed") }  // prints closed
}
