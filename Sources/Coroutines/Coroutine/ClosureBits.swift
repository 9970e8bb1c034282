// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// A closure as what it is made of: its function and what it has captured, to which the reference is its owner's to end.
///
/// For the two things that cannot be said with a closure: that letting go of it takes no atomic operation, if nobody else holds
/// what it has captured, where the compiler's way always does; and that it has captured nothing, so that there is nothing to let go
/// of at all. And where a `Performer` lies until it is called.
@usableFromInline
struct ClosureBits {
  @usableFromInline var function: UnsafeRawPointer?
  @usableFromInline var context: UnsafeMutableRawPointer?

  @inlinable @inline(__always)
  init(function: UnsafeRawPointer?, context: UnsafeMutableRawPointer?) {
    self.function = function
    self.context = context
  }

  /// Takes a closure, or a structure of one, over.
  @inlinable @inline(__always)
  init<Closure>(_ closure: consuming Closure) {
    self.init(function: nil, context: nil)
    let closure = consume closure
    // Without a guard against overruns, which each launch would store and compare: this is no memory in the end.
    _withUnprotectedUnsafeMutablePointer(to: &self) {
      // SAFETY: a closure is its function and an object of the runtime's own kind with what it has captured, or nil (Swift's
      // ABI, CoroutineLayoutTests). As bits the compiler does not release it.
      _ = UnsafeMutableRawPointer($0).initializeMemory(as: Closure.self, to: closure)
    }
  }

  /// Ends the reference to what it has captured.
  @inlinable @inline(__always)
  consuming func end() {
    if let context { cck_object_release(context) }
  }
}
