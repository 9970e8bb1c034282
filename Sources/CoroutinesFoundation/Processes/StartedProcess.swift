// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
import CCoroutinesIO
import Coroutines
import Foundation

/// A process with the pipes to it: what `run` and `start` are made of.
struct StartedProcess: Sendable {
  let identifier: Int32
  /// It leads a process group, in which what it starts is too.
  private let leadsGroup: Bool
  let exit: ProcessExit
  /// The ends of its standard streams, where they were asked for.
  let input: FileHandle?
  let output: FileHandle?
  let errors: FileHandle?

  init(_ process: Process, _ streams: ProcessStreams) throws {
    exit = ProcessExit(of: process)
    // The process's ends: closed here when it has them.
    var given: [FileHandle] = []
    defer { for end in given { try? end.close() } }
    func connect(_ stream: ProcessStreams, _ set: (FileHandle) -> Void) throws -> FileHandle? {
      guard streams.contains(stream) else { return nil }
      var (ours, its) = try Self.pipe()
      if stream == .input { swap(&ours, &its) }
      // Only our end: the two ends of a pipe have flags of their own.
      _ = fcntl(ours.fileDescriptor, F_SETFL, fcntl(ours.fileDescriptor, F_GETFL) | O_NONBLOCK)
      set(its)
      given.append(its)
      return ours
    }
    input = try connect(.input) { process.standardInput = $0 }
    output = try connect(.output) { process.standardOutput = $0 }
    errors = try connect(.errors) { process.standardError = $0 }
    try Self.requireDescriptors()
    try SignalMask.asOfMainThread { try process.run() }
    identifier = process.processIdentifier
    leadsGroup = getpgid(identifier) == identifier
    exit.watch(identifier)
  }

  /// A pipe that other processes do not inherit.
  ///
  /// Not Foundation's: an end of it that gets into a process which another thread starts at this moment
  /// would keep it open, and its end would never be seen.
  private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
    var ends: [Int32] = [-1, -1]
    guard ccf_pipe(&ends) == 0 else { throw POSIXError.current }
    return (
      FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
      FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    )
  }

  /// Throws if there are too few descriptors left to start a process with.
  ///
  /// Foundation on Linux does not look whether it gets those that it needs: it tells of a bad descriptor,
  /// keeps others open, or waits for ever for an end that it cannot notice. It needs far fewer than these;
  /// other threads may take some of them in between, so it is a help and no guarantee.
  private static func requireDescriptors() throws {
    #if os(Linux)
    var probes: [Int32] = []
    defer { for probe in probes { close(probe) } }
    for _ in 0..<16 {
      let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard probe >= 0 else { throw POSIXError.current }
      probes.append(probe)
    }
    #endif
  }

  /// Waits for the end; if cancelled, sees to it that it comes, and waits for it all the same.
  func supervise(grace: Duration) throws -> ProcessTermination {
    do {
      return try exit.termination.await()
    } catch {
      terminate(grace: grace)
      throw error
    }
  }

  /// Sees to it that the end comes, of the process and of what it has started, and waits for it, deaf to
  /// cancellation.
  func terminate(grace: Duration) {
    guard exit.termination.isPending else { return }
    signalAll(SIGTERM)
    // Nothing here throws but the time limit: the promise is always fulfilled.
    try? withCancellationShield {
      do {
        try withTimeout(grace) {
          _ = try exit.termination.await()
          try awaitEndOfGroup()
        }
      } catch is TimeoutError {
        // Nobody can put this one off, so it leaves no one.
        signalAll(SIGKILL)
        _ = try exit.termination.await()
      }
    }
  }

  /// Waits until nobody of the group runs any more, when the process itself has ended.
  ///
  /// One signal to the group does not reach them all: who starts a program blocks signals meanwhile, as
  /// `posix_spawn` and the shells do, and the new one gets none that was sent before it was there. It would
  /// live on, with the output open.
  private func awaitEndOfGroup() throws {
    guard leadsGroup else { return }
    signalAll(SIGTERM)
    var pause = Duration.milliseconds(1)
    while cio_group_has_running_member(identifier) != 0 {
      try Coroutine.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Sends a signal, unless the process has ended.
  func signal(_ number: Int32) {
    if exit.termination.isPending { kill(identifier, number) }
  }

  /// Sends a signal to the process and what it has started, if it has a group of its own.
  ///
  /// Also when the process itself has just ended: as long as the group has members, its number is not
  /// given to anybody else, and numbers are given in turn, so an empty group's is free for a while.
  private func signalAll(_ number: Int32) {
    if leadsGroup {
      kill(-identifier, number)
    } else {
      signal(number)
    }
  }

  /// Writes to the process's standard input; that it does not read on is no error.
  func feed(_ data: Data) throws {
    guard let input else { return }
    defer { try? input.close() }
    do {
      try Descriptor(input).write(data)
    } catch let error as POSIXError where error.code == .EPIPE {}
  }
}
