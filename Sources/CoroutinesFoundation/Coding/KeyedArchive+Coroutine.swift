// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension NSKeyedArchiver: CoroutineNamespaceProviding {}
extension NSKeyedUnarchiver: CoroutineNamespaceProviding {}

/// Archiving object graphs.
///
/// Runs on a thread of the offload pool, or on the caller's outside a coroutine; the objects'
/// `encode(with:)` runs there too and must not park.
///
/// *Cancellation:* archiving that has begun is waited for, since it uses the objects.
extension CoroutineNamespace where Base: NSKeyedArchiver {
  /// Archives an object; as `NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)`.
  ///
  /// - Parameters:
  ///   - object: The root of the graph. It must not be changed meanwhile.
  ///   - requiringSecureCoding: Whether an object without secure coding is refused.
  /// - Returns: The archive.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func archivedData(
    withRootObject object: Any,
    requiringSecureCoding: Bool = true
  ) throws -> Data {
    try exclusiveCall {
      try NSKeyedArchiver.archivedData(
        withRootObject: object,
        requiringSecureCoding: requiringSecureCoding
      )
    }
  }

  /// Archives an object into a file, atomically.
  ///
  /// - Parameters:
  ///   - object: The root of the graph. It must not be changed meanwhile.
  ///   - url: The file.
  ///   - requiringSecureCoding: Whether an object without secure coding is refused.
  /// - Throws: What the plain calls throw; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func archive(
    rootObject object: Any,
    to url: URL,
    requiringSecureCoding: Bool = true
  ) throws {
    try exclusiveCall {
      try NSKeyedArchiver.archivedData(
        withRootObject: object,
        requiringSecureCoding: requiringSecureCoding
      ).write(to: url, options: .atomic)
    }
  }
}

/// Unarchiving object graphs.
///
/// Runs on a thread of the offload pool, or on the caller's outside a coroutine; the objects'
/// `init(coder:)` runs there too and must not park.
///
/// *Cancellation:* ends the wait at once; what is unarchived then is dropped.
extension CoroutineNamespace where Base: NSKeyedUnarchiver {
  /// Unarchives an object of a class with secure coding.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - data: The archive.
  /// - Returns: The object; nil if the archive holds nil.
  /// - Throws: What `NSKeyedUnarchiver.unarchivedObject(ofClass:from:)` throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func unarchivedObject<Object: NSObject & NSSecureCoding>(
    ofClass type: Object.Type,
    from data: Data
  ) throws -> sending Object? {
    try blockingCall { try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data) }
  }

  /// Unarchives an object made of objects of some classes with secure coding.
  ///
  /// - Parameters:
  ///   - classes: All classes that may occur.
  ///   - data: The archive.
  /// - Returns: The object; nil if the archive holds nil.
  /// - Throws: What `NSKeyedUnarchiver.unarchivedObject(ofClasses:from:)` throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func unarchivedObject(
    ofClasses classes: [AnyClass],
    from data: Data
  ) throws -> sending Any? {
    try blockingCall {
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
    }
  }

  /// Unarchives an object of a class with secure coding from a file.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - url: The file.
  /// - Returns: The object; nil if the archive holds nil.
  /// - Throws: What the plain calls throw; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func unarchivedObject<Object: NSObject & NSSecureCoding>(
    ofClass type: Object.Type,
    at url: URL
  ) throws -> sending Object? {
    try blockingCall {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: Data(contentsOf: url))
    }
  }

  /// Unarchives whatever is there, also objects without secure coding; only for archives that are trusted.
  ///
  /// - Parameter data: The archive.
  /// - Returns: The object; nil if the archive holds nil.
  /// - Throws: What the plain calls throw; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func unarchiveTopLevelObject(with data: Data) throws -> sending Any? {
    try blockingCall {
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
      unarchiver.requiresSecureCoding = false
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
      defer { unarchiver.finishDecoding() }
      let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
      if let error = unarchiver.error { throw error }
      return object
    }
  }
}
