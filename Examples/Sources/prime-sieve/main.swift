// SPDX-License-Identifier: Apache-2.0

// Shows: a chain of coroutines, each connected to the next by a channel (Doug McIlroy's prime sieve).
//
// The first coroutine counts. Whatever comes out at the end of the chain is a prime; it adds a filter to the end,
// which holds back its multiples. There is no list and no table: the chain is the memory. One `cancel` takes it
// down, because all of it was launched in one scope.
//
// Output:
//
//   the first primes: 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97
//   a chain of 26 coroutines; ended by the cancel: all of them

import Coroutines

/// Passes on what `prime` does not divide.
func filter(_ numbers: ReceiveEnd<Int>, by prime: Int, into passed: SendEnd<Int>) throws {
  for number in numbers where number % prime != 0 { try passed.send(number) }
}

try runBlocking {
  var primes: [Int] = []
  var chain: [Coroutine] = []
  try withCoroutineScope { scope in
    let naturals = Channel<Int>()
    chain.append(scope.launch(name: "counter") { for n in 2... { try naturals.send(n) } })

    var end = naturals.receiveEnd
    while primes.count < 25 {
      let prime = try end.receive()
      primes.append(prime)
      let (numbers, passed) = (end, Channel<Int>())
      chain.append(
        scope.launch(name: "filter \(prime)") {
          try filter(numbers, by: prime, into: passed.sendEnd)
        }
      )
      end = passed.receiveEnd
    }
    scope.cancel()
  }  // left only when all coroutines of the scope have ended
  print("the first primes:", primes.map(String.init).joined(separator: " "))
  let ended = chain.count(where: \.isFinished)
  print("a chain of \(chain.count) coroutines;", terminator: " ")
  print("ended by the cancel:", ended == chain.count ? "all of them" : "\(ended)")
}
