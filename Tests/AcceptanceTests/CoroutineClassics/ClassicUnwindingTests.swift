// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What becomes of a generator that is left, dropped, or fails.
@Suite(.timeLimit(.minutes(30))) struct ClassicUnwindingTests {
  private let notes = Notebook<String>()

  private func noting() -> Generator<Int> {
    let notes = notes
    return Generator { yield in
      defer { notes.add("finally") }
      for value in 0... { try yield(value) }
    }
  }

  @Test func `dropping a suspended generator runs its finally`() {
    do { #expect(noting().next() == 0) }
    #expect(notes.entries == ["finally"])
  }

  @Test func `dropping a fresh generator runs nothing`() {
    do { _ = noting() }
    #expect(notes.entries == [])
  }

  @Test func `dropping a finished generator runs nothing again`() {
    let notes = notes
    do {
      let generator = Generator<Int> { yield in
        defer { notes.add("finally") }
        try yield(1)
      }
      #expect(Array(generator) == [1])
    }
    #expect(notes.entries == ["finally"])
  }

  @Test func `leaving a loop runs the finally before the next statement`() {
    for value in noting() where value == 3 { break }
    notes.add("after")
    #expect(notes.entries == ["finally", "after"])
  }

  @Test func `finallies run from inside out`() {
    let notes = notes
    do {
      let generator = Generator<Int> { yield in
        defer { notes.add("outer") }
        try [1].forEach { value in
          defer { notes.add("inner") }
          try yield(value)
        }
      }
      #expect(generator.next() == 1)
    }
    #expect(notes.entries == ["inner", "outer"])
  }

  @Test func `dropping the outer of nested generators unwinds all of them`() {
    let notes = notes
    func nest(_ depth: Int) -> Generator<Int> {
      Generator { yield in
        defer { notes.add("\(depth)") }
        if depth == 0 { try yield(7) } else { try yield.all(of: nest(depth - 1)) }
      }
    }
    do { #expect(nest(3).next() == 7) }
    #expect(notes.entries == ["0", "1", "2", "3"])
  }

  @Test func `objects that a suspended body holds are freed with it`() {
    final class Held {
      let notes: Notebook<String>
      init(_ notes: Notebook<String>) { self.notes = notes }
      deinit { notes.add("freed") }
    }
    let notes = notes
    do {
      let generator = Generator<Int> { yield in
        let held = Held(notes)
        try yield(1)
        withExtendedLifetime(held) {}
      }
      #expect(generator.next() == 1)
      #expect(notes.entries == [])
    }
    #expect(notes.entries == ["freed"])
  }

  @Test func `an error ends the values and is in error afterwards`() {
    let generator = Generator<Int> { yield in
      try yield(1)
      throw Boom(5)
    }
    #expect(Array(generator) == [1])
    #expect(generator.error as? Boom == Boom(5))
    #expect(generator.next() == nil)
  }

  @Test func `a generator that has failed does not start again`() {
    let notes = notes
    let generator = Generator<Int> { _ in
      notes.add("ran")
      throw Boom(1)
    }
    for _ in 0..<3 { #expect(generator.next() == nil) }
    #expect(notes.entries == ["ran"])
    #expect(generator.error as? Boom == Boom(1))
  }

  @Test func `an error of the part passes through the whole, past its finallies`() {
    let notes = notes
    let part = Generator<Int> { yield in
      try yield(1)
      throw Boom(6)
    }
    let whole = Generator<Int> { yield in
      defer { notes.add("whole") }
      try yield.all(of: part)
    }
    #expect(Array(whole) == [1])
    #expect(whole.error as? Boom == Boom(6))
    #expect(notes.entries == ["whole"])
  }

  @Test func `the whole may catch an error of its part and go on`() {
    let part = Generator<Int> { yield in
      try yield(1)
      throw Boom(6)
    }
    let whole = Generator<Int> { yield in
      do { try yield.all(of: part) } catch let error as Boom { try yield(error.code) }
    }
    #expect(Array(whole) == [1, 6])
  }

  @Test func `a generator that owns another by its closure lets it go at its end`() {
    let inner = noting()
    let outer = Generator<Int> { yield in for value in inner.prefix(2) { try yield(value) } }
    #expect(Array(outer) == [0, 1])
    #expect(notes.entries == ["finally"])
  }
}
