// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing
import coswift

/// Bugs of the ancestors that no other file here shows to be gone.
@Suite(.timeLimit(.minutes(10)))
struct AncestorTests {
  @Test func `a coroutine that goes on after a wait runs, and resuming it has no effect (3.4-1)`()
    throws
  {
    let runs = Cell(0)
    try inCoroutine { () throws in
      let coroutine = Coroutine.current()
      #expect(coroutine != nil)
      runs.update { $0 += 1 }
      try co_delay(0.001)
      #expect(co_isActive)
      coroutine?.resume()
      coroutine?.resumeNow()
      try co_delay(0.001)
      #expect(Coroutine.current() === coroutine)
      #expect(coroutine?.isFinished == false)
    }
    #expect(runs.value == 1)
  }
}
