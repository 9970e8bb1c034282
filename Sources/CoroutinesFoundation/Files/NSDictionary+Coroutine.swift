// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension NSDictionary: CoroutineNamespaceProviding {}

/// Dictionaries as files: property lists.
///
/// Each waits on a thread of the offload pool, or on the caller's outside a coroutine.
///
/// *Cancellation:* of a read ends the wait at once. A write that has begun is waited for, since it uses
/// the dictionary; do not change that meanwhile.
extension CoroutineNamespace where Base: NSDictionary {
  /// Reads a dictionary from a property list.
  ///
  /// - Parameter url: The file.
  /// - Returns: The dictionary, with values that cannot be changed.
  /// - Throws: What reading throws; `CocoaError(.propertyListReadCorrupt)` if it is no dictionary;
  ///   `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(of url: URL) throws -> NSDictionary {
    NSDictionary(dictionary: try PropertyListFile.read([String: Any].self, from: url))
  }

  /// Reads a dictionary from a property list.
  ///
  /// - Parameter path: The file.
  /// - Returns: The dictionary, with values that cannot be changed.
  /// - Throws: As `contents(of:)`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func contents(ofFile path: String) throws -> NSDictionary {
    try contents(of: URL(fileURLWithPath: path))
  }

  /// Writes the dictionary to a file, as an XML property list.
  ///
  /// - Parameters:
  ///   - url: Where to.
  ///   - atomically: Whether the file is either as before or complete, whatever happens.
  /// - Throws: What writing throws; `CocoaError(.propertyListWriteInvalid)` if a key or value has no place in a
  ///   property list; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(to url: URL, atomically: Bool = true) throws {
    try PropertyListFile.write(base, to: url, atomically: atomically)
  }

  /// Writes the dictionary to a file, as an XML property list.
  ///
  /// - Parameters:
  ///   - path: Where to.
  ///   - atomically: Whether the file is either as before or complete, whatever happens.
  /// - Throws: As `write(to:atomically:)`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(toFile path: String, atomically: Bool = true) throws {
    try write(to: URL(fileURLWithPath: path), atomically: atomically)
  }
}
