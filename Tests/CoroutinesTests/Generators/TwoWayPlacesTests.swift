// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// What goes either way, where a generator stays on its thread and its values take the short way, and where not.
@Suite(.timeLimit(.minutes(30))) struct TwoWayPlacesTests {
  @Test(arguments: Place.allCases)
  func `each yield returns what its own next sends, or nil`(_ place: Place) throws {
    let seen = try place.run {
      var seen: [Int?] = []
      let generator = TwoWayGenerator<Int, Int, String> { yield in
        for value in 0..<6 { seen.append(try yield(value)) }
        return "end"
      }
      try #expect(generator.next(100) == .yielded(0))
      for value in 1..<6 {
        let step = value % 2 == 0 ? try generator.next() : try generator.next(value * 10)
        #expect(step == .yielded(value))
      }
      try #expect(generator.next(60) == .returned("end"))
      try #expect(generator.next(70) == .returned(nil))
      return seen
    }
    #expect(seen == [10, nil, 30, nil, 50, 60])
  }

  @Test(arguments: Place.allCases)
  func `nothing that was yielded or sent is kept, however it ends`(_ place: Place) throws {
    let (yielded, sent) = (Census(), Census())
    try place.run {
      for ending in 0..<5 {
        do {
          let generator = TwoWayGenerator<Counted, Counted, Counted> { yield in
            for number in 0..<3 { _ = try yield(Counted(number, yielded)) }
            return Counted(3, yielded)
          }
          for _ in 0..<3 {
            _ = try generator.next(Counted(4, sent))
            // What the body yields its own frame may hold while it is suspended.
            #expect(sent.alive == 0)
            #expect(yielded.alive <= 1)
          }
          switch ending {
          case 0: break
          case 1: generator.cancel()
          case 2: try #expect(generator.return(Counted(5, sent)).isDone)
          case 3: #expect(throws: Failure(6)) { try generator.throw(Failure(6)) }
          default: try #expect(generator.next(Counted(7, sent)).isDone)
          }
          if ending != 0 {
            #expect(yielded.alive == 0)
            try #expect(generator.next(Counted(8, sent)).isDone)
          }
        }
        #expect(yielded.alive == 0)
        #expect(sent.alive == 0)
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `what is thrown in arrives once, between values that are sent`(_ place: Place) throws {
    let seen = try place.run {
      var seen: [Int] = []
      let generator = TwoWayGenerator<Int, Int, Int> { yield in
        while seen.count < 5 {
          do {
            seen.append(try yield(seen.count) ?? -1)
          } catch let error as Failure {
            seen.append(error.code)
          }
        }
        return 99
      }
      try #expect(generator.next() == .yielded(0))
      try #expect(generator.next(10) == .yielded(1))
      try #expect(generator.throw(Failure(20)) == .yielded(2))
      try #expect(generator.next() == .yielded(3))
      try #expect(generator.throw(Failure(30)) == .yielded(4))
      try #expect(generator.next(40) == .returned(99))
      return seen
    }
    #expect(seen == [10, 20, -1, 30, 40])
  }

  @Test(arguments: Place.allCases)
  func `a return that the body delays is told at its end`(_ place: Place) throws {
    try place.run {
      let generator = TwoWayGenerator<Int, Int, Int> { yield in
        defer { for value in [7, 8] { _ = try? yield(value) } }
        try yield(1)
        return 2
      }
      try #expect(generator.next() == .yielded(1))
      try #expect(generator.return(3) == .yielded(7))
      try #expect(generator.next(5) == .yielded(8))
      try #expect(generator.next() == .returned(3))
      try #expect(generator.next() == .returned(nil))
    }
  }

  @Test(arguments: Place.allCases)
  func `a body that throws after values throws once`(_ place: Place) throws {
    try place.run {
      let generator = TwoWayGenerator<Int, Void, Void> { yield in
        for value in 0..<3 { try yield(value) }
        throw Failure(4)
      }
      for value in 0..<3 { try #expect(generator.next(()).yielded == value) }
      #expect(throws: Failure(4)) { try generator.next(()) }
      #expect(generator.isFinished)
      try #expect(generator.next().isDone)
    }
  }

  private static func exchange<A: Equatable, B: Equatable>(_ a: A, _ b: B) throws {
    var seen: [B?] = []
    let generator = TwoWayGenerator<A, B, Void> { yield in
      while true { seen.append(try yield(a)) }
    }
    for _ in 0..<3 { try #expect(generator.next(b).yielded == a) }
    try #expect(generator.next().yielded == a)
    #expect(seen == [b, b, nil])
  }

  @Test(arguments: Place.allCases)
  func `values of any size and alignment go either way`(_ place: Place) throws {
    try place.run {
      let wide = SIMD16<Double>(repeating: 1.5)
      try Self.exchange(UInt8(1), wide)
      try Self.exchange(wide, UInt8(2))
      try Self.exchange([true, false], "a text of more than fifteen bytes")
      try Self.exchange(UInt8?.none, Int16(3))
      try Self.exchange(UInt8(4), Int?.none)
    }
  }

  @Test(arguments: Place.allCases)
  func `a delegation passes on values, errors and returns`(_ place: Place) throws {
    let seen = try place.run {
      var seen: [String] = []
      let generator = TwoWayGenerator<Int, Int, Int> { yield in
        let inner = TwoWayGenerator<Int, Int, Int> { yield in
          for value in 0... {
            do {
              seen.append("\(try yield(value) ?? -1)")
            } catch let error as Failure {
              seen.append("error \(error.code)")
            }
          }
          return 0
        }
        return try yield.all(of: inner) ?? -2
      }
      try #expect(generator.next() == .yielded(0))
      try #expect(generator.next(5) == .yielded(1))
      try #expect(generator.next() == .yielded(2))
      try #expect(generator.throw(Failure(6)) == .yielded(3))
      try #expect(generator.next(7) == .yielded(4))
      try #expect(generator.return(8) == .returned(8))
      return seen
    }
    #expect(seen == ["5", "-1", "error 6", "7"])
  }

  @Test(arguments: Place.allCases)
  func `its own body, and a yield outside it, are refused`(_ place: Place) throws {
    try place.run {
      var own: TwoWayGenerator<Int, Int, Void>?
      var kept: TwoWayGenerator<Int, Int, Void>.Yield?
      let generator = TwoWayGenerator<Int, Int, Void> { yield in
        kept = yield
        for value in 0..<3 {
          #expect(throws: GeneratorError.alreadyRunning) { try own?.next(1) }
          try yield(value)
        }
      }
      own = generator
      for value in 0..<3 {
        try #expect(generator.next(2).yielded == value)
        #expect(throws: GeneratorError.yieldedElsewhere) { try kept?(9) }
      }
      try #expect(generator.next().isDone)
      #expect(throws: GeneratorError.finished) { try kept?(9) }
      own = nil
    }
  }
}
