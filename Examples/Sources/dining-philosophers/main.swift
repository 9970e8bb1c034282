// SPDX-License-Identifier: Apache-2.0

// Shows: locks that park, the classic deadlock, and the rule that avoids it.
//
// Five philosophers sit around a table, with a fork between each two of them. Eating takes both forks. If all of them
// take the left one first, each may hold one and wait for the other for ever. Here all take the fork with the lower
// number first, so somebody always gets both.
//
// With --deadlock they take the left one first. Then the library finds that nobody can go on, says who waits for whom,
// and ends the program: Expected/dining-philosophers--deadlock.txt.
//
// Output:
//
//   Plato, Hypatia, Avicenna, Hume, Arendt sit down
//   Hume eats (1)
//   Avicenna eats (1)
//   Hypatia eats (1)
//   Hume eats (2)
//   Plato eats (1)
//   Hume eats (3)
//   Arendt eats (1)
//   Avicenna eats (2)
//   Hypatia eats (2)
//   Plato eats (2)
//   Avicenna eats (3)
//   Hypatia eats (3)
//   Arendt eats (2)
//   Plato eats (3)
//   Arendt eats (3)
//   all have eaten 3 times, 2 at most at the same time

import Coroutines

let names = ["Plato", "Hypatia", "Avicenna", "Hume", "Arendt"]
let meals = 3

func dine(lowerForkFirst: Bool) throws {
  let forks = names.map { _ in CoroutineMutex() }
  var (eating, mostEating) = (0, 0)
  print(names.joined(separator: ", "), "sit down")

  try withCoroutineScope { scope in
    for (seat, name) in names.enumerated() {
      let (left, right) = (seat, (seat + 1) % forks.count)
      let order = lowerForkFirst ? (min(left, right), max(left, right)) : (left, right)
      scope.launch(name: name) {
        for meal in 1...meals {
          try forks[order.0].withLock {
            try Coroutine.yield()  // reaching for the other one takes a moment
            try forks[order.1].withLock {
              eating += 1
              mostEating = max(mostEating, eating)
              print("\(name) eats (\(meal))")
              try Coroutine.yield()
              eating -= 1
            }
          }
          try Coroutine.yield()  // thinks
        }
      }
    }
  }
  print("all have eaten \(meals) times, \(mostEating) at most at the same time")
}

let isClassic = CommandLine.arguments.dropFirst().contains("--deadlock")
try runBlocking { try dine(lowerForkFirst: !isClassic) }
