// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension String: CoroutineNamespaceProviding {}

/// Reading and writing a file's text.
///
/// Each waits for the disk on a thread of the offload pool, or on the caller's outside a coroutine.
///
/// *Cancellation:* ends the wait at once; a call that has begun goes on to its end unobserved.
extension CoroutineNamespace where Base == String {
  /// Reads a text; as `String.init(contentsOf:encoding:)`.
  ///
  /// - Parameters:
  ///   - url: What to read.
  ///   - encoding: What its bytes mean.
  /// - Returns: The text.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(of url: URL, encoding: String.Encoding = .utf8) throws -> String {
    try blockingCall { try String(contentsOf: url, encoding: encoding) }
  }

  /// Reads a text file.
  ///
  /// - Parameters:
  ///   - path: Which one.
  ///   - encoding: What its bytes mean.
  /// - Returns: The text.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(
    ofFile path: String,
    encoding: String.Encoding = .utf8
  ) throws -> String {
    try blockingCall { try String(contentsOfFile: path, encoding: encoding) }
  }

  /// Reads a text and finds out its encoding; as `String.init(contentsOf:usedEncoding:)`.
  ///
  /// - Parameter url: What to read.
  /// - Returns: The text, and what its bytes were taken to mean.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contentsAndEncoding(
    of url: URL
  ) throws -> (text: String, encoding: String.Encoding) {
    try blockingCall {
      var encoding = String.Encoding.utf8
      let text = try String(contentsOf: url, usedEncoding: &encoding)
      return (text, encoding)
    }
  }

  /// Reads a text file and finds out its encoding.
  ///
  /// - Parameter path: Which one.
  /// - Returns: The text, and what its bytes were taken to mean.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contentsAndEncoding(
    ofFile path: String
  ) throws -> (text: String, encoding: String.Encoding) {
    try contentsAndEncoding(of: URL(fileURLWithPath: path))
  }

  /// Writes the text to a file; as `String.write(to:atomically:encoding:)`.
  ///
  /// - Parameters:
  ///   - url: Where to.
  ///   - atomically: Whether the file is either as before or complete, whatever happens.
  ///   - encoding: What the bytes mean.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(
    to url: URL,
    atomically: Bool = true,
    encoding: String.Encoding = .utf8
  ) throws {
    let base = base
    try blockingCall { try base.write(to: url, atomically: atomically, encoding: encoding) }
  }

  /// Writes the text to a file.
  ///
  /// - Parameters:
  ///   - path: Where to.
  ///   - atomically: Whether the file is either as before or complete, whatever happens.
  ///   - encoding: What the bytes mean.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(
    toFile path: String,
    atomically: Bool = true,
    encoding: String.Encoding = .utf8
  ) throws {
    let base = base
    try blockingCall { try base.write(toFile: path, atomically: atomically, encoding: encoding) }
  }
}
