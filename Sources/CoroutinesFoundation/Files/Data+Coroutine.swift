// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Data: CoroutineNamespaceProviding {}

/// Reading and writing a file's bytes.
///
/// Each waits for the disk on a thread of the offload pool, or on the caller's outside a coroutine.
///
/// *Cancellation:* ends the wait at once; a call that has begun goes on to its end unobserved. So a
/// cancelled write may still happen; write atomically where half a file would hurt.
extension CoroutineNamespace where Base == Data {
  /// Reads a file, or whatever the URL names; as `Data.init(contentsOf:options:)`.
  ///
  /// - Parameters:
  ///   - url: What to read.
  ///   - options: How.
  /// - Returns: Its bytes.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(of url: URL, options: Data.ReadingOptions = []) throws -> Data {
    try blockingCall { try Data(contentsOf: url, options: options) }
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: Which one.
  ///   - options: How.
  /// - Returns: Its bytes.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(
    ofFile path: String,
    options: Data.ReadingOptions = []
  ) throws -> Data {
    try contents(of: URL(fileURLWithPath: path), options: options)
  }

  /// Writes the bytes to a file; as `Data.write(to:options:)`.
  ///
  /// - Parameters:
  ///   - url: Where to.
  ///   - options: How.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(to url: URL, options: Data.WritingOptions = []) throws {
    let base = base
    try blockingCall { try base.write(to: url, options: options) }
  }

  /// Writes the bytes to a file.
  ///
  /// - Parameters:
  ///   - path: Where to.
  ///   - options: How.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(toFile path: String, options: Data.WritingOptions = []) throws {
    try write(to: URL(fileURLWithPath: path), options: options)
  }
}
