// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// One call, or one block of calls, of a generated program.
///
/// Channels, promises and coroutines are meant by their numbers; times are in microseconds.
package indirect enum FuzzStep {
  case send(Int)
  case sendIfReady(Int)
  case receive(Int)
  case receiveIfReady(Int)
  case receiveAll(Int)
  case receiveSome(Int, count: Int)
  case receiveUntilClosed(Int)
  case close(Int)
  case look(Int)
  case select([FuzzClause])
  case sleep(Int)
  case yield
  case limit(Int, [FuzzStep])
  case shield([FuzzStep])
  case cancel(Int)
  case join(Int, cancels: Bool)
  case launch([FuzzStep], isImmediate: Bool)
  case scope([[FuzzStep]], [FuzzStep])
  case repeated(Int, [FuzzStep])
  case fulfill(Int)
  case reject(Int)
  case cancelPromise(Int)
  case await(Int, cancelsPromise: Bool)
  case observe(Int)
  case work([Int], FuzzCombination)
}

/// One clause of a `select` in a generated program.
package enum FuzzClause {
  case receive(Int, handlesClosing: Bool)
  case send(Int)
  case after(Int)
  case otherwise
}

/// How promises are awaited together.
package enum FuzzCombination: Int, CaseIterable {
  case awaitAll
  case all
  case race
  case any
}

/// What the main part does when all others wait for nothing that will come.
package enum FuzzEnding: Int, CaseIterable {
  /// Closes all channels and settles all promises.
  case close
  /// Cancels all coroutines.
  case cancel
  /// Nothing: whoever waits then is in a deadlock.
  case abandon
}

/// A channel of a generated program.
package struct FuzzChannel {
  package enum Policy: Int, CaseIterable {
    case wait
    case dropOldest
    case dropNewest
  }

  let limit: Int
  let policy: Policy

  var capacity: ChannelCapacity {
    switch policy {
    case .wait: limit == .max ? .unbounded : .bounded(limit)
    case .dropOldest: .droppingOldest(limit)
    case .dropNewest: .droppingNewest(limit)
    }
  }
}
