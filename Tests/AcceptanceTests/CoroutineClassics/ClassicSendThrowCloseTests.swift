// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `send`, `throw` and `close` of CPython's generators.
@Suite(.timeLimit(.minutes(30))) struct ClassicSendThrowCloseTests {
  private let notes = Notebook<String>()

  @Test func `a running average takes numbers and yields averages`() throws {
    let average = TwoWayGenerator<Double, Double, Void> { yield in
      var (sum, count, mean) = (0.0, 0.0, 0.0)
      while let number = try yield(mean) {
        sum += number
        count += 1
        mean = sum / count
      }
    }
    _ = try average.next()
    var means: [Double] = []
    for number in [10.0, 20, 60] {
      if case .yielded(let mean) = try average.next(number) { means.append(mean) }
    }
    #expect(means == [10, 15, 30])
    #expect(try average.next().isDone)
  }

  @Test func `a counter that can be set goes on from what is sent`() {
    let counter = Numbers { yield in
      var number = 0
      while number < 12 { number = try yield(number) ?? number + 1 }
      return number
    }
    #expect(
      play(counter, .next, .next, .send(10), .next, .next)
        == ["yields 0", "yields 1", "yields 10", "yields 11", "returns 12"]
    )
  }

  @Test func `a chain of filters passes sent values on`() throws {
    let notes = notes
    let sink = TwoWayGenerator<Void, Int, Void> { yield in
      while let value = try yield(()) { notes.add("\(value)") }
    }
    let even = TwoWayGenerator<Void, Int, Void> { yield in
      while let value = try yield(()) { if value % 2 == 0 { _ = try sink.next(value) } }
    }
    _ = try sink.next()
    _ = try even.next()
    for value in 1...6 { _ = try even.next(value) }
    #expect(notes.entries == ["2", "4", "6"])
  }

  @Test func `throw is caught where the generator stands, time and again`() {
    let generator = Numbers { yield in
      var value = 0
      while true { do { try yield(value) } catch let error as Boom { value = error.code } }
    }
    #expect(play(generator, .next, .fail(5), .fail(6)) == ["yields 0", "yields 5", "yields 6"])
  }

  @Test func `the thrown object itself arrives, and comes out`() throws {
    final class Token: Error {}
    let token = Token()
    let generator = Numbers { yield in try yield(1) ?? 0 }
    _ = try generator.next()
    do {
      _ = try generator.throw(token)
      Issue.record("it did not throw")
    } catch {
      #expect(error as? Token === token)
    }
  }

  @Test func `an error thrown into a fresh one comes out, and its body never runs`() {
    let notes = notes
    let generator = Numbers { _ in
      notes.add("ran")
      return 1
    }
    #expect(play(generator, .fail(5), .next) == ["throws 5", "is done"])
    #expect(notes.entries == [])
  }

  @Test func `an error in a handler replaces the one that was thrown in`() {
    let generator = Numbers { yield in
      do { return try yield(1) ?? 0 } catch is Boom { throw Boom(2) }
    }
    #expect(play(generator, .next, .fail(1), .next) == ["yields 1", "throws 2", "is done"])
  }

  @Test func `an error thrown in a handler's yield leaves the first one behind`() {
    let generator = Numbers { yield in
      do {
        return try yield(1) ?? 0
      } catch is Boom {
        do { return try yield(2) ?? 0 } catch let error as Boom { return error.code }
      }
    }
    #expect(play(generator, .next, .fail(7), .fail(8)) == ["yields 1", "yields 2", "returns 8"])
  }

  @Test func `close before the start is silent and runs nothing`() throws {
    let notes = notes
    let generator = Numbers { _ in
      notes.add("ran")
      return 1
    }
    generator.cancel()
    #expect(play(generator, .next) == ["is done"])
    #expect(notes.entries == [])
  }

  @Test func `close unwinds from the yield, and is silent`() {
    let notes = notes
    let generator = Numbers { yield in
      defer { notes.add("finally") }
      return try yield(1) ?? 0
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(notes.entries == ["finally"])
    #expect(play(generator, .next) == ["is done"])
  }

  @Test func `close twice, and after the end, does nothing`() {
    let notes = notes
    let generator = Numbers { yield in
      defer { notes.add("finally") }
      return try yield(1) ?? 0
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    generator.cancel()
    let ended = Numbers { _ in 1 }
    #expect(play(ended, .next) == ["returns 1"])
    ended.cancel()
    #expect(notes.entries == ["finally"])
  }

  @Test func `a body that catches the close may return normally`() {
    let notes = notes
    let generator = Numbers { yield in
      do { return try yield(1) ?? 0 } catch is CancellationError {
        notes.add("closed")
        return 2
      }
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(notes.entries == ["closed"])
    #expect(generator.isFinished)
  }

  @Test func `a body that yields upon a close is refused and ends`() {
    let notes = notes
    let generator = Numbers { yield in
      do { try yield(1) } catch {
        do { try yield(2) } catch is CancellationError { notes.add("refused") }
      }
      return 3
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(notes.entries == ["refused"])
    #expect(generator.isFinished)
  }

  @Test func `throw and next after a close are as after any end`() {
    let generator = Numbers { yield in try yield(1) ?? 0 }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(play(generator, .next, .fail(4), .send(1)) == ["is done", "throws 4", "is done"])
  }

  @Test func `an error while a close unwinds comes out of the next call, once`() {
    let generator = Numbers { yield in
      do { return try yield(1) ?? 0 } catch { throw Boom(6) }
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(generator.isFinished)
    #expect(play(generator, .next, .next) == ["throws 6", "is done"])
  }

  @Test func `what a body returns upon a close is what the next call returns`() {
    let generator = Numbers { yield in
      do { return try yield(1) ?? 0 } catch { return 7 }
    }
    #expect(play(generator, .next) == ["yields 1"])
    generator.cancel()
    #expect(play(generator, .next, .next) == ["returns 7", "is done"])
  }

  @Test func `delegation closes the inner generator first`() {
    let notes = notes
    let outer = Numbers { yield in
      defer { notes.add("outer") }
      return try yield.all(
        of: Numbers { yield in
          defer { notes.add("inner") }
          return try yield(1) ?? 0
        }
      ) ?? 0
    }
    #expect(play(outer, .next) == ["yields 1"])
    outer.cancel()
    #expect(notes.entries == ["inner", "outer"])
  }

  @Test func `a generator already executing refuses to be asked`() {
    let own = OwnGenerator { own, yield in
      #expect(own.play(.next) == "is running")
      return try yield(1) ?? 0
    }
    #expect(own.play(.next) == "yields 1")
    // A suspended body that holds its own generator is a cycle.
    #expect(own.play(.next) == "returns 0")
  }
}
