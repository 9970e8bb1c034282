// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

func fetch(_ name: String) -> Promise<String> {
  Promise { fulfill, _ in
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { fulfill("<\(name)>") }
  }
}

co_launch {
  defer { exit(0) }
  if case .fulfilled(let page) = try `await`(promise: fetch("a")) { print(page) }  // prints <a>
  print(try batch_await([fetch("b"), fetch("c")]).map { try $0.get() })  // prints ["<b>", "<c>"]

  let lines = Chan<String>()
  co_launch { try lines.send(val: "a line") }
  print(try co_await(channel: lines))  // prints a line

  let squares = co_sequence(Int.self) {
    var number = 0
    while true {
      number += 1
      try yield { number * number }
    }
  }
  print(try squares.take(3))  // prints [1, 4, 9]

  let counter = co_actor { messages in
    var count = 0
    for message in messages {
      count += message.intType ?? 0
      message.complete(count)
    }
  }
  counter.sendMessage(5)
  print(try co_await(promise: counter.sendMessage(2)).get() ?? "nothing")  // prints 7

  let talk = RJIterator(standardBlock: {
    let name = try rj_yield("your name?")
    print("hello,", name ?? "stranger")
  })
  print(talk.next().value ?? "")  // prints your name?
  print(talk.next("LiLei").done)  // prints hello, LiLei, then true
}
dispatchMain()
