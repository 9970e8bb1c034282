// SPDX-License-Identifier: Apache-2.0

/// The coroutine versions of a value's slow calls, behind `.co`.
///
/// ```swift
/// let data = try Data.co.contents(of: url)
/// let names = try FileManager.default.co.contentsOfDirectory(atPath: path)
/// ```
///
/// Inside a coroutine they park it and leave its thread to others; outside one they block their thread,
/// as the plain calls do.
public struct CoroutineNamespace<Base> {
  /// What the calls are made on.
  public let base: Base

  init(_ base: Base) { self.base = base }
}

/// Types whose slow calls have coroutine versions behind `.co`.
public protocol CoroutineNamespaceProviding {}

extension CoroutineNamespaceProviding {
  /// The coroutine versions of this value's slow calls.
  public var co: CoroutineNamespace<Self> { CoroutineNamespace(self) }

  /// The coroutine versions of this type's slow calls.
  public static var co: CoroutineNamespace<Self>.Type { CoroutineNamespace<Self>.self }
}
