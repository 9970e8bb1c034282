// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// All orders of some elements: a recursion that yields from the inside.
func orders<Element>(of elements: [Element]) -> Generator<[Element]> {
  Generator { yield in
    guard let last = elements.last else { return try yield([]) }
    for order in orders(of: elements.dropLast()) {
      for place in 0...order.count {
        var longer = order
        longer.insert(last, at: place)
        try yield(longer)
      }
    }
  }
}
for order in orders(of: [1, 2, 3]).prefix(2) { print(order) }
// prints [3, 2, 1], then [2, 3, 1]

// A callback interface, turned inside out by the yield.
let firsts = Generator<Character> { yield in
  try ["one", "two", "six"].forEach { word in try yield(word.first ?? "?") }
}
print(String(firsts))  // prints ots

// One generator inside another.
let twice = Generator<Int> { yield in
  try yield.all(of: 1...2)
  try yield.all(of: Generator<Int> { yield in try yield(3) })
}
print(Array(twice))  // prints [1, 2, 3]

// A loop cannot throw: the error waits in `error`. `nextOrThrow` throws it.
struct Torn: Error {}
func pages() -> Generator<String> {
  Generator { yield in
    try yield("page 1")
    throw Torn()
  }
}
let quiet = pages()
print(Array(quiet), quiet.error ?? "no error")  // prints ["page 1"] Torn()
do {
  let loud = pages()
  while let page = try loud.nextOrThrow() { print(page) }  // prints page 1
} catch is Torn { print("torn") }  // prints torn
