// SPDX-License-Identifier: Apache-2.0

// Shows: a tree of supervisors. A worker that crashes is restarted; one that crashes too often ends its supervisor;
// the supervisor above decides what that means for the rest.
//
//   shop
//   ├── till           works
//   └── kitchen        allows two restarts
//       ├── cook       crashes once, and works from then on
//       └── oven       crashes whenever it is used
//
// Output:
//
//   till: open
//   cook: at the stove
//   cook: burnt the soup
//   cook: at the stove
//   cook: soup is ready
//   oven: on
//   oven: smoke
//   oven: on
//   oven: smoke
//   kitchen: gives up
//   shop: goes on without the kitchen
//   till: 1 soup sold
//   the kitchen ended because of the oven, after 3 failures:
//     "cook": Burnt(what: "soup")
//     "oven": Smoke()
//     "oven": Smoke()

import Coroutines

struct Burnt: Error { let what: String }
struct Smoke: Error {}

enum Order {
  case soup(Reply<String>)
}

try runBlocking {
  var kitchenFailure: SupervisorError?

  try withSupervisor(
    name: "shop",
    decide: { failure in
      // A child supervisor that gave up is a failure like any other: its error says why.
      guard let error = failure.error as? SupervisorError else { return .restart }
      print("kitchen: gives up")
      print("shop: goes on without the \(failure.child)")
      kitchenFailure = error
      return .stop
    }
  ) { shop in
    let sales = Channel<String>()
    shop.launch(name: "till") {
      print("till: open")
      for sale in sales { print("till: 1 \(sale) sold") }
    }

    let kitchen = shop.supervisor(
      name: "kitchen",
      intensity: RestartIntensity(2, within: .seconds(3600))
    )
    var soups = 0
    let cook = kitchen.actor(of: Order.self, name: "cook") { mailbox in
      print("cook: at the stove")
      for case .soup(let plate) in mailbox {
        soups += 1
        if soups == 1 {
          print("cook: burnt the soup")
          throw Burnt(what: "soup")
        }
        print("cook: soup is ready")
        plate("soup")
      }
    }

    // The first order is rejected with the cook's error; the handle is good for the cook that was restarted.
    let first = cook.ask { .soup($0) }
    let second = cook.ask { .soup($0) }
    do { _ = try first.await() } catch is Burnt {}
    let soup = try second.await()

    kitchen.launch(name: "oven") {
      print("oven: on")
      try Coroutine.yield()
      print("oven: smoke")
      throw Smoke()
    }
    try kitchen.join()  // it gives up at the third failure
    try sales.send(soup)
    try Coroutine.yield()
  }

  guard let error = kitchenFailure else { fatalError("The kitchen did not give up.") }
  print("the kitchen ended because of the \(error.child), after \(error.history.count) failures:")
  for failure in error.history { print("  \(failure)") }
}
