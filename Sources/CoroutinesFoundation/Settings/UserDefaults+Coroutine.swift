// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension UserDefaults: CoroutineNamespaceProviding {}

/// Reading and writing settings, which may wait for a disk or for another process.
///
/// Each is the plain method of the same name, made on a thread of the offload pool, or on the caller's
/// outside a coroutine. `UserDefaults` may be used from several threads at once.
///
/// *Cancellation:* a call that has begun is waited for (it is short); then the wait throws
/// `CancellationError`, which is all that these throw.
extension CoroutineNamespace where Base: UserDefaults {
  /// The setting; nil if there is none.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func object(forKey key: String) throws -> Any? {
    let base = base
    return try exclusiveCall { base.object(forKey: key) }
  }

  /// The setting as a text; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func string(forKey key: String) throws -> String? {
    let base = base
    return try exclusiveCall { base.string(forKey: key) }
  }

  /// The setting as an array; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func array(forKey key: String) throws -> [Any]? {
    let base = base
    return try exclusiveCall { base.array(forKey: key) }
  }

  /// The setting as a dictionary; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func dictionary(forKey key: String) throws -> [String: Any]? {
    let base = base
    return try exclusiveCall { base.dictionary(forKey: key) }
  }

  /// The setting as bytes; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func data(forKey key: String) throws -> Data? {
    let base = base
    return try exclusiveCall { base.data(forKey: key) }
  }

  /// The setting as an array of texts; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func stringArray(forKey key: String) throws -> [String]? {
    let base = base
    return try exclusiveCall { base.stringArray(forKey: key) }
  }

  /// The setting as a URL; nil if there is none, or none of that kind.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func url(forKey key: String) throws -> URL? {
    let base = base
    return try exclusiveCall { base.url(forKey: key) }
  }

  /// The setting as a whole number; 0 if there is none.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func integer(forKey key: String) throws -> Int {
    let base = base
    return try exclusiveCall { base.integer(forKey: key) }
  }

  /// The setting as a number; 0 if there is none.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func float(forKey key: String) throws -> Float {
    let base = base
    return try exclusiveCall { base.float(forKey: key) }
  }

  /// The setting as a number; 0 if there is none.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func double(forKey key: String) throws -> Double {
    let base = base
    return try exclusiveCall { base.double(forKey: key) }
  }

  /// The setting as true or false; false if there is none.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func bool(forKey key: String) throws -> Bool {
    let base = base
    return try exclusiveCall { base.bool(forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: Any?, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: Int, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: Float, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: Double, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: Bool, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Changes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func set(_ value: URL?, forKey key: String) throws {
    let base = base
    try exclusiveCall { base.set(value, forKey: key) }
  }

  /// Removes the setting.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func removeObject(forKey key: String) throws {
    let base = base
    try exclusiveCall { base.removeObject(forKey: key) }
  }

  /// Waits until all changes are on the disk; false if that failed.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  @discardableResult
  public func synchronize() throws -> Bool {
    let base = base
    return try exclusiveCall { base.synchronize() }
  }
}
