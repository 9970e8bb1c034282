// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension FileManager: CoroutineNamespaceProviding {}

/// Making, copying, moving, linking and removing.
///
/// Each is the plain method of the same name, made on a thread of the offload pool, or on the caller's
/// outside a coroutine. It returns what that returns, and throws what that throws.
///
/// *Cancellation:* ends the wait at once with `CancellationError`; a call that has begun goes on to its
/// end unobserved.
extension CoroutineNamespace where Base: FileManager {
  /// Makes a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func createDirectory(
    atPath path: String,
    withIntermediateDirectories: Bool = false,
    attributes: sending [FileAttributeKey: Any]? = nil
  ) throws {
    let base = base
    try blockingCall {
      try base.createDirectory(
        atPath: path,
        withIntermediateDirectories: withIntermediateDirectories,
        attributes: attributes
      )
    }
  }

  /// Makes a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func createDirectory(
    at url: URL,
    withIntermediateDirectories: Bool = false,
    attributes: sending [FileAttributeKey: Any]? = nil
  ) throws {
    let base = base
    try blockingCall {
      try base.createDirectory(
        at: url,
        withIntermediateDirectories: withIntermediateDirectories,
        attributes: attributes
      )
    }
  }

  /// Makes a file; false if that was not possible.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func createFile(
    atPath path: String,
    contents: Data?,
    attributes: sending [FileAttributeKey: Any]? = nil
  ) throws -> Bool {
    let base = base
    return try blockingCall {
      base.createFile(atPath: path, contents: contents, attributes: attributes)
    }
  }

  /// Makes a symbolic link.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func createSymbolicLink(
    atPath path: String,
    withDestinationPath destination: String
  ) throws {
    let base = base
    try blockingCall { try base.createSymbolicLink(atPath: path, withDestinationPath: destination) }
  }

  /// Makes a symbolic link.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func createSymbolicLink(at url: URL, withDestinationURL destination: URL) throws {
    let base = base
    try blockingCall { try base.createSymbolicLink(at: url, withDestinationURL: destination) }
  }

  /// Copies a file, or a directory with all that is in it.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func copyItem(atPath source: String, toPath target: String) throws {
    let base = base
    try blockingCall { try base.copyItem(atPath: source, toPath: target) }
  }

  /// Copies a file, or a directory with all that is in it.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func copyItem(at source: URL, to target: URL) throws {
    let base = base
    try blockingCall { try base.copyItem(at: source, to: target) }
  }

  /// Moves a file or a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func moveItem(atPath source: String, toPath target: String) throws {
    let base = base
    try blockingCall { try base.moveItem(atPath: source, toPath: target) }
  }

  /// Moves a file or a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func moveItem(at source: URL, to target: URL) throws {
    let base = base
    try blockingCall { try base.moveItem(at: source, to: target) }
  }

  /// Makes a hard link.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func linkItem(atPath source: String, toPath target: String) throws {
    let base = base
    try blockingCall { try base.linkItem(atPath: source, toPath: target) }
  }

  /// Makes a hard link.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func linkItem(at source: URL, to target: URL) throws {
    let base = base
    try blockingCall { try base.linkItem(at: source, to: target) }
  }

  /// Removes a file, or a directory with all that is in it.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func removeItem(atPath path: String) throws {
    let base = base
    try blockingCall { try base.removeItem(atPath: path) }
  }

  /// Removes a file, or a directory with all that is in it.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func removeItem(at url: URL) throws {
    let base = base
    try blockingCall { try base.removeItem(at: url) }
  }

  /// Puts one item in the place of another; returns where it is then.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func replaceItemAt(
    _ original: URL,
    withItemAt new: URL,
    backupItemName: String? = nil,
    options: FileManager.ItemReplacementOptions = []
  ) throws -> URL? {
    let base = base
    return try blockingCall {
      try base.replaceItemAt(
        original,
        withItemAt: new,
        backupItemName: backupItemName,
        options: options
      )
    }
  }
}
