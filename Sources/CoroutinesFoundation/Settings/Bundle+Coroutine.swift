// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Bundle: CoroutineNamespaceProviding {}

/// Loading code, which reads files and runs what they say is to run at the start.
///
/// *Cancellation:* ends the wait at once; loading that has begun goes on.
extension CoroutineNamespace where Base: Bundle {
  /// Loads the bundle's code; as `Bundle.load()`.
  ///
  /// - Returns: False if that was not possible.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  @discardableResult
  public func load() throws -> Bool {
    let base = base
    return try blockingCall { base.load() }
  }

  /// Loads the bundle's code; as `Bundle.loadAndReturnError()`.
  ///
  /// - Throws: Why it cannot be loaded; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func loadAndReturnError() throws {
    let base = base
    try blockingCall { _ = try base.loadAndReturnError() }
  }
}
