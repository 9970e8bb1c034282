// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// What is known of a child process, and who collects it.
///
/// Invariants:
/// - L1. Only this collects the process, and `isCollected` says so, both under the lock; signals are sent under the
///   lock, too. So none is sent to a number that has become another process's.
/// - L2. While somebody supervises (`supervisors`), a process that has ended is not collected: its number, and so
///   its group's, is not given to anybody else.
final class ChildLife: @unchecked Sendable {
  // SAFETY: the variables are guarded by the lock.

  let identifier: Int32
  private let program: String
  private let leadsGroup: Bool
  /// Settled when it has ended.
  let end = Promise<ChildExit>()
  let exits = Channel<ChildExit>(capacity: 1, name: "exit")
  private let lock = AllocatedLock()
  private var hasEnded = false
  private var isCollected = false
  private var supervisors = 0

  init(_ identifier: Int32, _ program: String, leadsGroup: Bool) {
    self.identifier = identifier
    self.program = program
    self.leadsGroup = leadsGroup
  }

  // MARK: - The end

  /// Begins to look for the end.
  func watch() {
    let descriptor = Int32(truncatingIfNeeded: cio_open_process(identifier))
    if descriptor >= 0, notice(descriptor) { return }
    // Not on the pool of `offload`, whose threads are few: this may take days.
    let isWatched = startKernelThread(named: "child") { [self] in
      var (status, isSignal): (Int32, Int32) = (0, 0)
      _ = cio_look_for_end(identifier, Int32(cio_end_not_collected), &status, &isSignal)
      _ = look()
    }
    // EAGAIN, as of the system's call.
    if !isWatched {
      finish(.failure(IOError(code: cio_would_block, operation: "watching", subject: program)))
    }
  }

  /// Has the reactor tell of the end; false, and the descriptor is closed, if it cannot.
  private func notice(_ descriptor: Int32) -> Bool {
    do throws(DescriptorFailure) {
      try DescriptorNotice.whenReadable(descriptor) { [self] in
        // A late event of what had the number before is no end.
        if look() { _ = cio_close(descriptor) } else { watchAgain(descriptor) }
      }
      return true
    } catch {
      _ = cio_close(descriptor)
      return false
    }
  }

  private func watchAgain(_ descriptor: Int32) {
    if !notice(descriptor) { watch() }
  }

  /// Learns how it ended; false if it has not.
  private func look() -> Bool {
    var (status, isSignal): (Int32, Int32) = (0, 0)
    let result = lock.withLock { () -> Int in
      let flags = Int32(cio_end_at_once | cio_end_not_collected)
      let result = cio_look_for_end(identifier, flags, &status, &isSignal)
      if result == 0 { return result }
      hasEnded = true
      // Somebody else has.
      if result < 0 { isCollected = true }
      collect()
      return result
    }
    if result == 0 { return false }
    if result < 0 {
      let error = IOError(code: Int32(-result), operation: "waiting for", subject: program)
      finish(.failure(error))
    } else {
      finish(.success(isSignal == 0 ? .exited(status) : .signalled(Signal(rawValue: status))))
    }
    return true
  }

  private func finish(_ result: Result<ChildExit, IOError>) {
    if case .success(let exit) = result { exits.sendIfReady(exit) }
    exits.close()
    switch result {
    case .success(let exit): end.fulfill(exit)
    case .failure(let error): end.reject(error)
    }
  }

  /// Has the system forget it, if nobody needs its number any more; under the lock.
  private func collect() {
    guard hasEnded, !isCollected, supervisors == 0 else { return }
    isCollected = true
    var (status, isSignal): (Int32, Int32) = (0, 0)
    _ = cio_look_for_end(identifier, Int32(cio_end_at_once), &status, &isSignal)
  }

  // MARK: - Signals

  /// Returns false if it has ended.
  func signal(_ signal: Signal) throws -> Bool {
    let result = lock.withLock { hasEnded ? -Int(cio_no_such_process) : send(signal, identifier) }
    if result == -Int(cio_no_such_process) { return false }
    try IOError.check(result, "sending \(signal) to", program)
    return true
  }

  private func send(_ signal: Signal, _ target: Int32) -> Int { cio_kill(target, signal.rawValue) }

  /// To the process and, if it leads a group, to what it has started.
  private func signalAll(_ signal: Signal) {
    lock.withLock {
      if isCollected { return }
      if leadsGroup {
        _ = send(signal, -identifier)
      } else if !hasEnded {
        _ = send(signal, identifier)
      }
    }
  }

  // MARK: - Supervising

  /// Does something; if that is cancelled or fails, sees to it that the end comes, and waits for it.
  func supervise<Result>(grace: Duration, _ body: () throws -> Result) throws -> Result {
    lock.withLock { supervisors += 1 }
    defer {
      lock.withLock {
        supervisors -= 1
        collect()
      }
    }
    do {
      return try body()
    } catch {
      try terminate(grace: grace)
      throw error
    }
  }

  private func terminate(grace: Duration) throws {
    signalAll(.terminate)
    try withCancellationShield {
      do {
        try withTimeout(grace) {
          _ = try end.await()
          try awaitEndOfGroup()
        }
      } catch is TimeoutError {
        // Nobody can put this one off.
        signalAll(.kill)
        _ = try end.await()
      }
    }
  }

  /// Waits until nobody of the group runs any more, when the process itself has ended.
  ///
  /// One signal to the group does not reach them all: who starts a program blocks signals meanwhile, and the new one
  /// gets none that was sent before it was there.
  private func awaitEndOfGroup() throws {
    guard leadsGroup else { return }
    signalAll(.terminate)
    var pause = Duration.milliseconds(1)
    while try offload({ [identifier] in cio_group_has_running_member(identifier) }) != 0 {
      try Coroutine.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(100))
    }
  }
}
