// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// Runs an event loop on the calling thread: the bridge from ordinary code into coroutines.
///
/// ```swift
/// try runBlocking {
///   let answer = launch { 6 * 7 }
///   print(try answer.value())
/// }
/// ```
///
/// Blocks the calling thread until `body` and every coroutine launched on this loop has finished. If
/// `body` throws, the coroutines that it launched are cancelled, and once they have finished, its error
/// is thrown. If `body` returns but a coroutine failed and nobody looked at its error, that error is
/// thrown. One error can be thrown: more of those that nobody looked at go to
/// `Coroutine.unobservedErrorHandler`. If nobody catches the error, the report of the crash says which coroutine's it was.
///
/// Called inside a coroutine it blocks nothing: `body` runs in the calling coroutine, and what it
/// launches is not waited for.
///
/// - Parameters:
///   - stackSize: Address space for the stack that `body` runs on; see `StackSize`.
///   - file: Where it is called; leave out.
///   - line: Where it is called; leave out.
///   - body: What to do.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or an error that nobody looked at.
@discardableResult
@available(*, noasync, message: "It would block the task's thread: try await withCoroutine { … }")
public func runBlocking<Result>(
  stackSize: StackSize = .default,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  if currentThread().runningFiber != nil { return try body() }
  return try withoutActuallyEscaping(body) { body in
    DumpSignal.armByDefault()
    cck_thread_note_thrown(nil)
    let site = SourceSite(file: file, line: line)
    let loop = EventLoop(.runBlocking(site), stopsWhenEmpty: true)
    loop.collectsUnobservedErrors = true
    var main: ValueCoroutine<Result>? = loop.launch(
      "main",
      stackSize,
      .queued,
      site
    ) {
      do {
        return try body()
      } catch {
        // What it launched has no one left to work for.
        Coroutine.current?.cancelChildren()
        throw error
      }
    }
    loop.run()
    guard let finished = main else { fatalError("runBlocking lost its coroutine") }
    main = nil
    do {
      let result = try finished.outcome()
      if let report = loop.unobservedError {
        loop.unobservedError = nil
        "\(report)".withCString { cck_thread_note_thrown($0) }
        throw report.error
      }
      return result
    } catch {
      // The body's error is thrown, so this one would be lost.
      if let report = loop.unobservedError { Coroutine.unobservedErrorHandler(report) }
      throw error
    }
  }
}

extension Coroutine {
  /// Cancels the coroutines launched in this one that still run.
  final func cancelChildren() {
    CancellationScope.cancelChildren(of: fiber)
  }
}
