// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Who holds a lock: a coroutine, or a thread outside any.
@usableFromInline
struct LockHolder: Equatable, Sendable {
  /// Address of the fiber; of the thread's record, plus one, outside coroutines; 0 for nobody.
  private let bits: UInt

  private init(bits: UInt) {
    self.bits = bits
  }

  /// Nobody.
  static let nobody = LockHolder(bits: 0)

  /// A coroutine.
  @inline(__always)
  init(_ fiber: UnsafeMutablePointer<Fiber>) {
    self.init(bits: UInt(bitPattern: fiber))
  }

  /// The code that calls.
  @inline(__always)
  init(_ thread: ThreadRecord) {
    if let fiber = thread.runningFiber {
      self.init(fiber)
    } else {
      self.init(bits: UInt(bitPattern: thread) | 1)
    }
  }

  /// The fiber of the coroutine, if it is one.
  var fiber: UnsafeMutablePointer<Fiber>? {
    bits & 1 == 0 ? UnsafeMutablePointer<Fiber>(bitPattern: bits) : nil
  }

  /// The coroutine, if it is one; to be asked like `description`.
  var coroutine: Coroutine? {
    // SAFETY: as in `description`.
    fiber.map { $0.coroutine }
  }

  /// For messages: `coroutine #7 "fetch" (suspended)`.
  ///
  /// To be asked only under the lock of the object that is held, by which the holder is still there: it could not let
  /// go without that lock, and if it has ended without letting go, it is kept (see `LocksByHand`).
  var description: String {
    if bits == 0 { return "nobody" }
    if bits & 1 == 1 { return "code outside any coroutine" }
    // SAFETY: even and not 0: the address of a fiber whose coroutine is alive, as said above.
    return fiber.map { $0.coroutine.description } ?? ""
  }
}
