// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// What the coroutines of an explored body share: which orders `explore` may leave out as alike.
public enum ExplorationSharing: Sendable, Hashable {
  /// Anything: no order is left out.
  case anything

  /// Channels, promises, locks and the other things that park, scopes, and handles of coroutines; and what is
  /// guarded by one of these locks: nothing else that one coroutine changes while another looks.
  ///
  /// What a coroutine does from one park point to the next is a step. Two orders that differ only in steps which
  /// touch no object in common come to the same, and only one of them is run. A step that launches
  /// coroutines, or asks for a coroutine's `state`, is taken to touch everything; so is the passing of time.
  ///
  /// Not seen, and so not to be shared: variables and objects of your own, even behind an `Atomic` or a `Mutex`
  /// of the standard library; generators; what happens when the last reference to something goes away; and when
  /// a wake-up comes from outside, as after `offload` and `awaitTask`: leave these out of such a body. What
  /// is written before the coroutines are launched and only read by them may be shared, and each may write to
  /// a place of its own that is read after it was joined.
  ///
  /// If the promise is broken, orders are missed, and bugs with them. An error that is reported is one in any
  /// case: it was seen in a run.
  case libraryObjectsOnly
}

/// Throws, or stops, unless steps can be observed in this build and orders be left out of this strategy.
func checkThatReductionIsPossible(_ strategy: ExplorationStrategy) throws {
  guard hasPreemptionPoints else {
    throw NoPreemptionPoints(
      purpose:
        "explore(sharing: .libraryObjectsOnly) looks at what each step touches inside the library"
    )
  }
  guard case .exhaustive(nil) = strategy else {
    fatalError(
      "explore(sharing: .libraryObjectsOnly) leaves out orders that are like others, which have to be tried "
        + "then: it works with .exhaustive() without a bound. Leave out the bound or the sharing."
    )
  }
}
