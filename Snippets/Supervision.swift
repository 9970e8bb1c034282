// SPDX-License-Identifier: Apache-2.0

import Coroutines

enum Job {
  case parse(String, Reply<Int>)
}

struct Malformed: Error {}

try runBlocking {
  try withSupervisor(
    strategy: .oneForOne,
    intensity: RestartIntensity(5, within: .seconds(10)),
    backoff: .exponential(from: .milliseconds(1), to: .seconds(1), jitter: 0.5)
  ) { supervisor in
    let parser = supervisor.actor(of: Job.self, name: "parser") { mailbox in
      print("parser begins")
      for case .parse(let text, let reply) in mailbox {
        guard let number = Int(text) else { throw Malformed() }
        reply(number)
      }
    }  // prints parser begins
    let answers = ["1", "two", "3"].map { text in parser.ask { .parse(text, $0) } }
    print(try answers[0].await())  // prints 1
    do {
      _ = try answers[1].await()
    } catch is Malformed { print("malformed") }  // prints malformed, then parser begins
    print(try answers[2].await())  // prints 3
  }

  do {
    try withSupervisor(name: "root", decide: { _ in .escalate }) { supervisor in
      supervisor.launch(name: "fragile") { throw Malformed() }
      try Coroutine.sleep(for: .seconds(60))
    }
  } catch let error as SupervisorError {
    print(error.child, error.history.count)  // prints fragile 1
  }
}
