// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Runs `body` on so many threads of their own, and waits for all of them: what coroutines are compared with.
///
/// - Parameters:
///   - count: How many threads.
///   - body: What each does; gets its number.
public func runThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Start {
    let body: @Sendable (Int) -> Void
    let number: Int

    init(_ body: @escaping @Sendable (Int) -> Void, _ number: Int) {
      self.body = body
      self.number = number
    }
  }
  let threads = (0..<count).map { number in
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(body, number))
    let status = pthread_create(
      &thread,
      nil,
      { context in
        // SAFETY: each thread is given one retained object of its own, and takes it once.
        if let context {
          let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
          start.body(start.number)
        }
        return nil
      },
      start.toOpaque()
    )
    guard status == 0 else { stop("pthread_create: \(String(cString: strerror(status)))") }
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

/// The numbers from 0 up, each given out once, to whatever thread asks.
public final class Tickets: Sendable {
  private let next = Atomic(0)
  private let count: Int

  /// So many numbers.
  ///
  /// - Parameter count: How many.
  public init(_ count: Int) {
    self.count = count
  }

  /// The next number; nil when all have been given out.
  public func take() -> Int? {
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return number < count ? number : nil
  }
}

/// How many threads the process has, and which of them do the work, looked at now and then.
public final class ThreadCount: Sendable {
  private let peak = Atomic(0)
  private let workers = Mutex<Set<pthread_t>>([])

  /// Nothing looked at yet.
  public init() {}

  /// The largest number seen.
  public var most: Int { peak.load(ordering: .relaxed) }

  /// How many different threads have looked.
  public var ofWorkers: Int { workers.withLock { $0.count } }

  /// Looks again; called where the work is done.
  public func note() {
    workers.withLock { _ = $0.insert(pthread_self()) }
    var status = stat()
    // A directory has a link from each directory in it, and two more.
    guard stat("/proc/self/task", &status) == 0 else { return }
    peak.max(Int(status.st_nlink) - 2, ordering: .relaxed)
  }

  func reset() {
    peak.store(0, ordering: .relaxed)
    workers.withLock { $0.removeAll() }
  }
}
