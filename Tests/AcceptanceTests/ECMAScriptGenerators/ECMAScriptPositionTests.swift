// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `next`, `throw` and `return` at ten places of nested `try`, `catch` and `finally`.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptPositionTests {
  private let notes = Notebook<String>()
  /// A generator that is dropped unwinds, and notes that.
  private let kept = Notebook<Numbers>()

  /// Yields at nine places; the tenth is the fifth with an error under way.
  private func maze() -> Numbers {
    let notes = notes
    let generator = Numbers { yield in
      try yield(1)
      try attempt {
        do {
          try yield(2)
          try attempt {
            do {
              try yield(3)
            } catch let error as Boom {
              notes.add("inner catch \(error.code)")
              try yield(4)
            }
          } finally: {
            notes.add("inner finally")
            try yield(5)
          }
          try yield(6)
        } catch let error as Boom {
          notes.add("outer catch \(error.code)")
          try yield(7)
        }
      } finally: {
        notes.add("outer finally")
        try yield(8)
      }
      try yield(9)
      return 10
    }
    kept.add(generator)
    return generator
  }

  /// Leads the maze to a place.
  private func maze(at place: Int) -> Numbers {
    let maze = maze()
    let way: [GeneratorCall] =
      switch place {
      case 1...3: Array(repeating: .next, count: place)
      case 4: [.next, .next, .next, .fail(3)]
      case 5: [.next, .next, .next, .next]
      case 6: Array(repeating: .next, count: 5)
      case 7: [.next, .next, .fail(2)]
      case 8: Array(repeating: .next, count: 6)
      case 9: Array(repeating: .next, count: 7)
      default: [.next, .next, .next, .fail(3), .fail(4)]
      }
    var outcome: [String] = []
    for call in way { outcome = play(maze, call) }
    #expect(outcome == ["yields \(place == 10 ? 5 : place)"])
    notes.removeAll()
    return maze
  }

  // MARK: - next

  @Test func `next alone passes the tries and the finallies, and no catch`() {
    #expect(
      play(maze(), .next, .next, .next, .next, .next, .next, .next, .next, .next)
        == [1, 2, 3, 5, 6, 8, 9].map { "yields \($0)" } + ["returns 10", "is done"]
    )
    #expect(notes.entries == ["inner finally", "outer finally"])
  }

  @Test func `next in the inner catch goes on in the inner finally, and after it`() {
    #expect(play(maze(at: 4), .next, .next) == ["yields 5", "yields 6"])
    #expect(notes.entries == ["inner finally"])
  }

  @Test func `next in the outer catch goes on in the outer finally, and after it`() {
    #expect(play(maze(at: 7), .next, .next, .next) == ["yields 8", "yields 9", "returns 10"])
  }

  @Test func `next in a finally with an error under way goes on with the error`() {
    #expect(play(maze(at: 10), .next, .next) == ["yields 7", "yields 8"])
    #expect(notes.entries == ["outer catch 4", "outer finally"])
  }

  // MARK: - throw

  @Test func `throw before a try is not caught`() {
    #expect(play(maze(at: 1), .fail(99), .next) == ["throws 99", "is done"])
    #expect(notes.entries == [])
  }

  @Test func `throw in an outer try before the inner one goes to the outer catch`() {
    #expect(play(maze(at: 2), .fail(99), .next) == ["yields 7", "yields 8"])
    #expect(notes.entries == ["outer catch 99", "outer finally"])
  }

  @Test func `throw in an inner try goes to the inner catch`() {
    #expect(play(maze(at: 3), .fail(99), .next) == ["yields 4", "yields 5"])
    #expect(notes.entries == ["inner catch 99", "inner finally"])
  }

  @Test func `throw in an inner catch passes the inner finally and goes to the outer catch`() {
    #expect(play(maze(at: 4), .fail(99), .next) == ["yields 5", "yields 7"])
    #expect(notes.entries == ["inner finally", "outer catch 99"])
  }

  @Test func `throw in an inner finally goes to the outer catch`() {
    #expect(play(maze(at: 5), .fail(99)) == ["yields 7"])
    #expect(notes.entries == ["outer catch 99"])
  }

  @Test func `throw in an outer try after the inner one goes to the outer catch`() {
    #expect(play(maze(at: 6), .fail(99)) == ["yields 7"])
    #expect(notes.entries == ["outer catch 99"])
  }

  @Test func `throw in the outer catch passes the finally and comes out`() {
    #expect(play(maze(at: 7), .fail(99), .next, .next) == ["yields 8", "throws 99", "is done"])
    #expect(notes.entries == ["outer finally"])
  }

  @Test func `throw in the outer finally comes out`() {
    #expect(play(maze(at: 8), .fail(99), .next) == ["throws 99", "is done"])
    #expect(notes.entries == [])
  }

  @Test func `throw after the tries comes out`() {
    #expect(play(maze(at: 9), .fail(99), .next) == ["throws 99", "is done"])
  }

  @Test func `throw in a finally replaces the error under way`() {
    #expect(play(maze(at: 10), .fail(99)) == ["yields 7"])
    #expect(notes.entries == ["outer catch 99"])
  }

  // MARK: - return

  @Test func `return before a try ends at once`() {
    #expect(play(maze(at: 1), .finish(99), .next) == ["returns 99", "is done"])
    #expect(notes.entries == [])
  }

  @Test func `return in an outer try passes its finally and no catch`() {
    #expect(
      play(maze(at: 2), .finish(99), .next, .next) == ["yields 8", "returns 99", "is done"]
    )
    #expect(notes.entries == ["outer finally"])
  }

  @Test func `return in an inner try passes both finallies, from inside out`() {
    #expect(
      play(maze(at: 3), .finish(99), .next, .next) == ["yields 5", "yields 8", "returns 99"]
    )
    #expect(notes.entries == ["inner finally", "outer finally"])
  }

  @Test func `return in an inner catch passes both finallies`() {
    #expect(
      play(maze(at: 4), .finish(99), .next, .next) == ["yields 5", "yields 8", "returns 99"]
    )
  }

  @Test func `return in an inner finally leaves it and passes the outer one`() {
    #expect(play(maze(at: 5), .finish(99), .next) == ["yields 8", "returns 99"])
  }

  @Test func `return in an outer try after the inner one passes the outer finally`() {
    #expect(play(maze(at: 6), .finish(99), .next) == ["yields 8", "returns 99"])
  }

  @Test func `return in the outer catch passes the finally`() {
    #expect(play(maze(at: 7), .finish(99), .next) == ["yields 8", "returns 99"])
  }

  @Test func `return in the outer finally ends at once`() {
    #expect(play(maze(at: 8), .finish(99), .next) == ["returns 99", "is done"])
  }

  @Test func `return after the tries ends at once`() {
    #expect(play(maze(at: 9), .finish(99), .next) == ["returns 99", "is done"])
  }

  @Test func `return in a finally replaces the error under way`() {
    #expect(play(maze(at: 10), .finish(99), .next) == ["yields 8", "returns 99"])
    #expect(notes.entries == ["outer finally"])
  }

  @Test func `a second return in a finally replaces the first`() {
    #expect(
      play(maze(at: 3), .finish(98), .finish(99), .next) == ["yields 5", "yields 8", "returns 99"]
    )
  }

  @Test func `a throw in a finally replaces the return under way`() {
    #expect(play(maze(at: 3), .finish(98), .fail(99)) == ["yields 5", "yields 7"])
    #expect(notes.entries == ["inner finally", "outer catch 99"])
  }
}
