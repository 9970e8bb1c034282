// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CCoroutineKernel

/// The size of a coroutine's stack: address space that is reserved, and committed only by use.
///
/// An idle coroutine occupies the pages that it has touched, one at least, whatever its stack size is. Sizes are rounded up to a power of
/// two, 16 KiB at least and 512 MiB at most; about 1 KiB of it is bookkeeping.
public struct StackSize: Sendable, Hashable {
  /// Index of the pooled size.
  @usableFromInline package let stackClass: UInt32

  @inlinable
  package init(stackClass: UInt32) {
    self.stackClass = stackClass
  }

  /// 256 KiB (512 KiB on Apple systems): enough for Foundation, JSON, regular expressions.
  @inlinable public static var `default`: StackSize {
    #if canImport(Darwin)
    StackSize(stackClass: 5)
    #else
    StackSize(stackClass: 4)
    #endif
  }

  /// 64 KiB: enough for code of your own that does not call deeply; less address space and page
  /// tables when there are hundreds of thousands.
  @inlinable public static var small: StackSize { StackSize(stackClass: 2) }

  /// At least so many bytes.
  ///
  /// - Parameter count: From 1 to 512 MiB; anything else is a programming error and stops the
  ///   program with a message.
  /// - Returns: The size.
  public static func bytes(_ count: Int) -> StackSize {
    demand(
      count > 0,
      "A stack of \(count) bytes was asked for; a coroutine needs one. "
        + "Leave stackSize out for \(StackSize.default.byteCount >> 10) KiB."
    )
    let stackClass = cck_stack_class(count)
    demand(
      stackClass < UInt32(CCK_STACK_CLASSES),
      "A stack of \(count) bytes was asked for; the largest is 512 MiB. "
        + "If recursion needs that much, keep its state in an array instead."
    )
    return StackSize(stackClass: stackClass)
  }

  /// At least so many times 1,024 bytes.
  ///
  /// - Parameter count: From 1 to 524,288; anything else stops the program with a message.
  /// - Returns: The size.
  public static func kibibytes(_ count: Int) -> StackSize {
    demand(
      count > 0 && count <= 1 << 19,
      "A stack of \(count) KiB was asked for; sizes go from 1 KiB to 524,288 KiB."
    )
    return bytes(count << 10)
  }

  /// The size after rounding.
  public var byteCount: Int { Int(CCK_STACK_SMALLEST_BYTES) << Int(stackClass) }
}
