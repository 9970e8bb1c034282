// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct CoroutineLocalTests {
  private static let number = CoroutineLocal(0)
  private static let name = CoroutineLocal<String?>(nil)

  @Test func `outside a coroutine it has its default`() {
    #expect(Self.number.value == 0)
    #expect(Self.name.value == nil)
  }

  @Test(arguments: Place.allCases)
  func `a binding holds for the time of its operation, the innermost first`(
    _ place: Place
  ) throws {
    let seen = try place.run {
      var seen = [Self.number.value]
      try Self.number.withValue(1) {
        seen.append(Self.number.value)
        try Self.number.withValue(2) { seen.append(Self.number.value) }
        seen.append(Self.number.value)
      }
      seen.append(Self.number.value)
      return seen
    }
    #expect(seen == [0, 1, 2, 1, 0])
  }

  @Test func `a binding ends when its operation throws`() throws {
    try runBlocking {
      #expect(throws: Problem(1)) { try Self.number.withValue(1) { throw Problem(1) } }
      #expect(Self.number.value == 0)
    }
  }

  @Test func `locals do not disturb one another`() throws {
    try runBlocking {
      try Self.number.withValue(7) {
        try Self.name.withValue("seven") {
          #expect(Self.number.value == 7)
          #expect(Self.name.value == "seven")
          try Self.name.withValue(nil) {
            #expect(Self.name.value == nil)
            #expect(Self.number.value == 7)
          }
        }
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `each coroutine keeps its own across parks (3.4-9)`(_ place: Place) throws {
    let values = try place.run {
      let coroutines = (0..<50).map { index in
        launch {
          try Self.number.withValue(index) {
            var isSame = true
            for _ in 0..<10 {
              try Coroutine.yield()
              isSame = isSame && Self.number.value == index
            }
            return isSame
          }
        }
      }
      return try coroutines.map { try $0.value() }
    }
    #expect(values.allSatisfy { $0 })
  }

  @Test(arguments: Place.allCases)
  func `children inherit what is in force when they are launched`(_ place: Place) throws {
    let values = try place.run {
      let children = try Self.number.withValue(5) {
        [
          launch { Self.number.value },
          launch(start: .immediately) { Self.number.value },
          launch(on: SerialScheduler()) { Self.number.value },
          launch(on: DispatchQueue(label: "test")) { Self.number.value },
          try withTimeout(.seconds(100)) { launch { Self.number.value } },
          try withCoroutineScope { scope in scope.launch { Self.number.value } },
          launch { try launch { Self.number.value }.value() },
        ]
      }
      let later = launch { Self.number.value }
      return (try children.map { try $0.value() }, try later.value())
    }
    #expect(values.0 == [5, 5, 5, 5, 5, 5, 5])
    #expect(values.1 == 0)
  }

  @Test func `what a child binds does not reach its parent`() throws {
    try runBlocking {
      let gate = Gate()
      let child = launch { try Self.number.withValue(9) { try gate.wait() } }
      try Coroutine.yield()
      #expect(Self.number.value == 0)
      gate.open()
      try child.value()
    }
  }

  private final class Canary: Sendable {
    let deaths: Counter
    init(_ deaths: Counter) { self.deaths = deaths }
    deinit { deaths.add() }
  }

  @Test func `bound values are released when those who see them have ended`() throws {
    let deaths = Counter()
    let local = CoroutineLocal<Canary?>(nil)
    try runBlocking {
      let gate = Gate()
      let child = try local.withValue(Canary(deaths)) {
        launch { try gate.wait() }
      }
      #expect(deaths.value == 0)
      gate.open()
      try child.join()
      #expect(deaths.value == 1)
    }
  }

  @Test func `a value is released with its binding, and the bindings around it stay`() throws {
    let deaths = Counter()
    let local = CoroutineLocal<Canary?>(nil)
    try runBlocking {
      try Self.number.withValue(1) {
        for round in 1...3 {
          try local.withValue(Canary(deaths)) {
            try Self.name.withValue("inside") {
              #expect(local.value != nil)
              #expect(Self.number.value == 1)
            }
            #expect(deaths.value == round - 1)
          }
          #expect(deaths.value == round)
          #expect(local.value == nil)
          #expect(Self.number.value == 1)
        }
      }
    }
  }

  @Test func `a local that has gone is not mistaken for one that is made later`() throws {
    try runBlocking {
      let gate = Gate()
      let child = try CoroutineLocal("gone").withValue("bound") {
        launch {
          try gate.wait()
          return (0..<100).allSatisfy { CoroutineLocal($0).value == $0 }
        }
      }
      gate.open()
      try #expect(child.value())
    }
  }

  private static func bind(_ count: Int) throws -> [Int] {
    guard count > 0 else { return [number.value] }
    return try CoroutineLocal(count).withValue(-count) { try bind(count - 1) + [number.value] }
  }

  @Test(arguments: Place.allCases)
  func `a binding far out is found, whatever lies before it`(_ place: Place) throws {
    let seen = try place.run { try Self.number.withValue(5) { try Self.bind(200) } }
    #expect(seen == Array(repeating: 5, count: 201))
  }
}
