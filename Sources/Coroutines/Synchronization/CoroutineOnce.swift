// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// A value that is made once, by whoever needs it first; the others wait for it.
///
/// ```swift
/// let connection = CoroutineOnce<Connection>()
/// let c = try connection.value { try Connection.open(host) }  // opens it, waits for it, or has it
/// ```
///
/// Errors are not kept: a closure that throws has made nothing. Its caller gets the error, and the next in
/// line tries with its own closure. (Sharing the error would hand one caller's cancellation to all of them. Who
/// wants that makes a `Promise`.)
///
/// A value that is not `Sendable` should be used on one scheduler only.
///
/// Cost: once made, one atomic load.
public final class CoroutineOnce<Value>: @unchecked Sendable {
  // SAFETY: `stored` is written inside the mutex before `isMade` is set, and constant afterwards.

  private let mutex = CoroutineMutex()
  @usableFromInline let isMade = AtomicFlag()
  @exclusivity(unchecked)
  @usableFromInline var stored: Value?

  /// A value that has not been made.
  public init() {}

  /// The value; made by `make` if there is none, in the calling coroutine.
  ///
  /// Parks while another coroutine makes it. First come, first served. It is a park point always.
  ///
  /// *Cancellation:* ends the wait; who makes the value goes on. If it is the maker that is cancelled, and so
  /// throws, the next in line makes it.
  ///
  /// - Parameter make: Makes the value; may park; must not ask for the same value.
  /// - Returns: The value.
  /// - Throws: What `make` throws; `SynchronizationError.heldByCaller` if `make` asks for the value that it is
  ///   making; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func value(_ make: () throws -> Value) throws -> Value {
    _ = try Parking.begin("CoroutineOnce.value(_:)", currentThread())
    if let value = valueIfReady { return value }
    return try valueSlowly(make)
  }

  /// Makes the value, or waits for whoever makes it.
  @usableFromInline @inline(never)
  func valueSlowly(_ make: () throws -> Value) throws -> Value {
    try mutex.acquire("CoroutineOnce.value(_:)", isByHand: false)
    defer { mutex.release("CoroutineOnce.value(_:)") }
    if let value = valueIfReady { return value }
    let value = try make()
    stored = value
    isMade.set()
    return value
  }

  /// The value, if it has been made.
  ///
  /// Never parks; may be asked from any thread.
  @inlinable
  public var valueIfReady: Value? { isMade.isSet ? stored : nil }
}
