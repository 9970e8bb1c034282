// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Coroutines

@Suite struct IdleSpinTests {
  /// In vain `times` times, as a deadline ends none of them.
  private static func fail(_ spin: inout IdleSpin, _ source: IdleSpin.Source, times: Int = 10) {
    for _ in 0..<times {
      let isThere = spin.wait(until: nil, for: source, { false }, poll: { false })
      #expect(!isThere)
    }
  }

  @Test(arguments: [(2_000, 4_000), (20_000, 40_000), (30_000, 50_000), (49_999, 50_000)])
  func `who was woken soon looks for longer the next time`(waited: Int64, next: Int64) {
    var spin = IdleSpin(processors: 2)
    Self.fail(&spin, .threads)
    #expect(spin.patience == 1_000)
    spin.noteWoken(by: .threads, after: waited)
    #expect(spin.patience == next)
  }

  @Test(arguments: [(2_000, 4_000), (9_000, 18_000), (19_999, 20_000)])
  func `for descriptors not longer than a processor takes to come back`(waited: Int64, next: Int64)
  {
    var spin = IdleSpin(processors: 2)
    Self.fail(&spin, .descriptors)
    #expect(spin.patience == 3_000)
    spin.noteWoken(by: .descriptors, after: waited)
    #expect(spin.patience == next)
  }

  @Test(arguments: [50_000, 1_000_000, 60_000_000_000])
  func `who was woken late looks no longer than before`(waited: Int64) {
    for before in [1_000, 50_000] as [Int64] {
      var spin = IdleSpin(processors: 2)
      Self.fail(&spin, .threads)
      spin.noteWoken(by: .threads, after: before / 2)
      #expect(spin.patience == before)
      spin.noteWoken(by: .threads, after: waited)
      #expect(spin.patience == before)
    }
  }

  @Test func `nor does it look for less because it was woken`() {
    var spin = IdleSpin(processors: 2)
    spin.noteWoken(by: .threads, after: 25_000)
    spin.noteWoken(by: .threads, after: 1_000)
    #expect(spin.patience == 50_000)
  }

  @Test func `whom looking longer never helps tries it but rarely`() {
    var spin = IdleSpin(processors: 2)
    var tries = 0
    for _ in 0..<2_048 {
      Self.fail(&spin, .threads, times: 6)
      let before = spin.patience
      spin.noteWoken(by: .threads, after: 10_000)
      if spin.patience > before { tries += 1 }
    }
    // Eight at first, then one in 256.
    #expect((8...16).contains(tries))
  }

  @Test func `once it helps, it is tried each time again`() {
    var spin = IdleSpin(processors: 2)
    for _ in 0..<100 {
      Self.fail(&spin, .threads, times: 6)
      spin.noteWoken(by: .threads, after: 10_000)
    }
    var looks = 0
    let isThere = spin.wait(until: nil, for: .threads) {
      looks += 1
      return looks == 20
    } poll: {
      false
    }
    #expect(isThere)
    Self.fail(&spin, .threads, times: 6)
    spin.noteWoken(by: .threads, after: 10_000)
    #expect(spin.patience == 20_000)
  }

  @Test func `something that is there ends the wait at once, and a deadline ends it in vain`() {
    for source in [IdleSpin.Source.threads, .descriptors] {
      var spin = IdleSpin(processors: 2)
      let isThere = spin.wait(until: nil, for: source, { true }, poll: { false })
      #expect(isThere)
      let isThereInTime = spin.wait(until: 0, for: source, { false }, poll: { false })
      #expect(!isThereInTime)
      #expect(spin.patience == 10_000)
    }
  }

  @Test
  func `beside work that needs the processors the look is short, and nothing is learnt from it`() {
    for source in [IdleSpin.Source.threads, .descriptors] {
      var spin = IdleSpin(processors: 2)
      var looks = 0
      for _ in 0..<10 {
        let isThere = spin.wait(until: nil, for: source, besideWork: true) {
          looks += 1
          return false
        } poll: {
          false
        }
        #expect(!isThere)
      }
      #expect(looks > 10)
      #expect(spin.patience == 10_000)
    }
  }

  @Test func `with one processor nobody looks longer than once`() {
    for source in [IdleSpin.Source.threads, .descriptors] {
      var spin = IdleSpin(processors: 1)
      var looks = 0
      let isThere = spin.wait(until: nil, for: source) {
        looks += 1
        return false
      } poll: {
        true
      }
      #expect(!isThere)
      #expect(looks == 1)
      #expect(spin.patience == 10_000)
    }
  }

  @Test func `what a descriptor brings ends the wait`() {
    var spin = IdleSpin(processors: 2)
    var polls = 0
    let isThere = spin.wait(until: nil, for: .descriptors) {
      false
    } poll: {
      polls += 1
      return polls == 2
    }
    #expect(isThere)
    #expect(spin.patience == 20_000)
  }

  @Test
  func `who may as well sleep at once polls no descriptor, but looks at what threads have brought`()
  {
    var spin = IdleSpin(processors: 2)
    Self.fail(&spin, .descriptors)
    var looks = 0
    var polls = 0
    let isThere = spin.wait(until: nil, for: .descriptors) {
      looks += 1
      return false
    } poll: {
      polls += 1
      return true
    }
    #expect(!isThere)
    #expect(looks == 1)
    #expect(polls == 0)
  }

  @Test func `who waits asks between two looks whether others need the processor`() {
    var spin = IdleSpin(processors: 2)
    var looks = 0
    var looksWhenAsked: [Int] = []
    let isThere = spin.wait(until: nil, for: .threads) {
      looks += 1
      return looksWhenAsked.count == 3
    } poll: {
      false
    } awake: {
      looksWhenAsked.append(looks)
      return 1_000_000
    }
    // Not before it has looked, and never again once there is something.
    #expect(
      looksWhenAsked.allSatisfy { $0 > 0 } && Set(looksWhenAsked).count == looksWhenAsked.count
    )
    #expect(isThere == (looksWhenAsked.count == 3))
  }
}
