// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization

/// Launches a coroutine that serves an object until its work is done: a child of the calling coroutine, or
/// one on the shared queue if there is none.
///
/// A child of code that is being cancelled may never run its body. Then nobody would close the
/// object's channels or stop what it stands for, and others would wait for ever.
///
/// - Parameters:
///   - name: For dumps.
///   - cleanUp: Called instead of `work` if that is not to run; must not park.
///   - work: What it does.
/// - Returns: The coroutine.
@discardableResult
func launchServant(
  _ name: String,
  ifNotRun cleanUp: @escaping @Sendable () -> Void,
  _ work: @escaping @Sendable () throws -> Void
) -> Coroutine {
  let hasRun = Flag()
  let body: @Sendable () throws -> Void = {
    hasRun.set()
    try work()
  }
  let servant =
    Coroutine.current == nil
    ? launch(on: .shared, name: name, body) : launch(name: name, start: .immediately, body)
  servant.onFinish { if !hasRun.isSet { cleanUp() } }
  return servant
}

private final class Flag: Sendable {
  private let flag = Atomic(false)

  func set() { flag.store(true, ordering: .relaxed) }

  var isSet: Bool { flag.load(ordering: .relaxed) }
}
