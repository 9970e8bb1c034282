// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The words of a text, as they come: nobody but the producer has the end that sends.
func words(of text: String) -> ReceiveEnd<Substring> {
  let (sender, receiver) = Channel<Substring>.makeEnds(name: "words")
  launch { for word in text.split(separator: " ") { try sender.send(word) } }
  return receiver
}

try runBlocking {
  // Three send, nobody closes: the channel is closed when the last of them has ended.
  let squares = Channel<Int>.makeEnds(capacity: 8) { results in
    for part in 1...3 { launch { try results.send(part * part) } }
  }
  for square in squares { print(square) }  // prints 1, then 4, then 9

  for word in words(of: "as you like") { print(word) }  // prints as, then you, then like
}
