// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// Lets go of a closure: without an atomic operation, if nobody else holds what it has captured.
///
/// The compiler's way to do that is one, always; and most closures that are launched are nobody else's.
///
/// - Parameters:
///   - closure: The closure.
///   - place: Two words that nobody uses.
@inlinable @inline(__always)
func endClosure<Value>(
  _ closure: consuming @escaping () throws -> Value,
  at place: UnsafeMutableRawPointer
) {
  // Here it is bits, which the compiler does not release.
  place.initializeMemory(as: (() throws -> Value).self, to: closure)
  // SAFETY: a closure is its function and an object of the runtime's own kind with what it has captured, or nil (Swift's ABI,
  // CoroutineLayoutTests); the reference to it is the one that was put there.
  let context = place.load(
    fromByteOffset: MemoryLayout<UInt>.size,
    as: UnsafeMutableRawPointer?.self
  )
  if let context { cck_object_release(context) }
}
