// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

/// Directories, attributes, and whether something is there.
///
/// Each is the plain method of the same name, made on a thread of the offload pool, or on the caller's
/// outside a coroutine. It returns what that returns, and throws what that throws.
///
/// *Cancellation:* ends the wait at once with `CancellationError`; a call that has begun goes on to its
/// end unobserved.
extension CoroutineNamespace where Base: FileManager {
  /// The names in a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func contentsOfDirectory(atPath path: String) throws -> [String] {
    let base = base
    return try blockingCall { try base.contentsOfDirectory(atPath: path) }
  }

  /// What is in a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func contentsOfDirectory(
    at url: URL,
    includingPropertiesForKeys keys: [URLResourceKey]? = nil,
    options: FileManager.DirectoryEnumerationOptions = []
  ) throws -> [URL] {
    let base = base
    return try blockingCall {
      try base.contentsOfDirectory(at: url, includingPropertiesForKeys: keys, options: options)
    }
  }

  /// All paths below a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func subpathsOfDirectory(atPath path: String) throws -> [String] {
    let base = base
    return try blockingCall { try base.subpathsOfDirectory(atPath: path) }
  }

  /// All paths below a directory; nil if it cannot be read.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func subpaths(atPath path: String) throws -> [String]? {
    let base = base
    return try blockingCall { base.subpaths(atPath: path) }
  }

  /// The attributes of a file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
    let base = base
    return try blockingCall { try base.attributesOfItem(atPath: path) }
  }

  /// The attributes of the file system that a path is on.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func attributesOfFileSystem(forPath path: String) throws -> [FileAttributeKey: Any] {
    let base = base
    return try blockingCall { try base.attributesOfFileSystem(forPath: path) }
  }

  /// Changes the attributes of a file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func setAttributes(
    _ attributes: sending [FileAttributeKey: Any],
    ofItemAtPath path: String
  ) throws {
    let base = base
    try blockingCall { try base.setAttributes(attributes, ofItemAtPath: path) }
  }

  /// What a symbolic link names.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func destinationOfSymbolicLink(atPath path: String) throws -> String {
    let base = base
    return try blockingCall { try base.destinationOfSymbolicLink(atPath: path) }
  }

  /// True if there is a file or a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func fileExists(atPath path: String) throws -> Bool {
    let base = base
    return try blockingCall { base.fileExists(atPath: path) }
  }

  /// True if the caller may read the file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func isReadableFile(atPath path: String) throws -> Bool {
    let base = base
    return try blockingCall { base.isReadableFile(atPath: path) }
  }

  /// True if the caller may write to the file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func isWritableFile(atPath path: String) throws -> Bool {
    let base = base
    return try blockingCall { base.isWritableFile(atPath: path) }
  }

  /// True if the caller may execute the file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func isExecutableFile(atPath path: String) throws -> Bool {
    let base = base
    return try blockingCall { base.isExecutableFile(atPath: path) }
  }

  /// True if the caller may remove the file.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func isDeletableFile(atPath path: String) throws -> Bool {
    let base = base
    return try blockingCall { base.isDeletableFile(atPath: path) }
  }

  /// True if two files or directories are the same inside.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func contentsEqual(atPath one: String, andPath other: String) throws -> Bool {
    let base = base
    return try blockingCall { base.contentsEqual(atPath: one, andPath: other) }
  }

  /// The bytes of a file; nil if it cannot be read.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func contents(atPath path: String) throws -> Data? {
    let base = base
    return try blockingCall { base.contents(atPath: path) }
  }

  /// Whether there is something, and whether that is a directory.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func fileExistsAndIsDirectory(
    atPath path: String
  ) throws -> (exists: Bool, isDirectory: Bool) {
    let base = base
    return try blockingCall {
      var isDirectory: ObjCBool = false
      let exists = base.fileExists(atPath: path, isDirectory: &isDirectory)
      return (exists, isDirectory.boolValue)
    }
  }

  /// Walks a directory tree, and yields what is there as it is asked for.
  ///
  /// Looks at the disk for 64 entries at a time. Ends early, without an error, where the plain enumerator
  /// does.
  ///
  /// - Parameters:
  ///   - url: The directory.
  ///   - options: What to leave out.
  /// - Returns: The URLs, one by one. Errors of the walk are in its `error`.
  public func enumerator(
    at url: URL,
    options: FileManager.DirectoryEnumerationOptions = []
  ) -> Generator<URL> {
    let base = base
    return Generator { yield in
      let failure = FirstError()
      let walk = try exclusiveCall {
        base.enumerator(at: url, includingPropertiesForKeys: nil, options: options) { _, error in
          failure.note(error)
          return false
        }
      }
      guard let walk else { throw CocoaError(.fileReadUnknown, userInfo: [NSURLErrorKey: url]) }
      while true {
        let batch = try exclusiveCall {
          var batch: [URL] = []
          while batch.count < 64, let next = walk.nextObject() {
            if let next = next as? URL { batch.append(next) }
          }
          return batch
        }
        for entry in batch { try yield(entry) }
        if let error = failure.error { throw error }
        if batch.isEmpty { return }
      }
    }
  }

  #if canImport(Darwin)
  /// Moves a file or a directory to the trash; returns where it is then.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func trashItem(at url: URL) throws -> URL? {
    let base = base
    return try blockingCall {
      var result: NSURL?
      try base.trashItem(at: url, resultingItemURL: &result)
      return result as URL?
    }
  }
  #endif
}

/// The first error of a walk.
private final class FirstError: @unchecked Sendable {
  // SAFETY: written and read by the walk and whoever waits for it, one at a time.
  private(set) var error: (any Error)?

  func note(_ error: any Error) { self.error = self.error ?? error }
}
