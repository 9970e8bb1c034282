// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What a supervisor did, in short.
func text(of event: SupervisionEvent) -> String {
  switch event {
  case .started(let child): "started \(child)"
  case .failed(let child, _): "failed \(child)"
  case .restarting(let child, _): "restarting \(child)"
  case .restarted(let child): "restarted \(child)"
  case .stopped(let child): "stopped \(child)"
  case .didNotStop(let child): "did not stop \(child)"
  case .ended(let error): error == nil ? "ended" : "ended with an error"
  }
}

extension Supervisor {
  /// Notes all events.
  func note(in log: SharedLog<String>) {
    onEvent { log.add(text(of: $0)) }
  }
}

/// Yields until something is so.
func yield(until isTrue: () -> Bool) throws {
  while !isTrue() { try Coroutine.yield() }
}
