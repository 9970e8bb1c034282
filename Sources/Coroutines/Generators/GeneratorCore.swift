// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
import CoroutineKernel

/// What a generator's body and its user touch at every value, one cache line each, in memory that no
/// object holds.
///
/// The fast way of a value is `Generator.next` and `Generator.Yield.callAsFunction`, or a two-way generator's: one test
/// each, of `ready` and of `low` and `extent`, which say yes only if everything is as usual: pinned, this thread,
/// not cancelled, no sanitizer. All else goes through `GeneratorState.resumeSlowly` and `suspendSlowly`.
///
/// Their switches carry an argument. To the body: nil for "go on", anything else for "throw". To the user:
/// nil for "ended", anything else for "there is a value".
@usableFromInline
package struct GeneratorCore {
  /// Where whoever resumed goes on.
  ///
  /// First field: its address, which a switch brings along in a register, is the core's.
  @usableFromInline package var callerContext = cck_context_t()
  /// Where the body goes on.
  @usableFromInline package var bodyContext = cck_context_t()
  /// Not 0 while the body is suspended; the thread whose record has this address may resume it at once.
  ///
  /// A number, because comparing optional pointers takes two tests.
  @usableFromInline package var ready: UInt = 0
  /// What a yield makes of `ready`: the thread that it is pinned to, else something that is no thread.
  @usableFromInline package var whenSuspended: UInt = 0
  /// The coroutine that resumed it, or nil: only its code may yield.
  @usableFromInline package var resumer: UnsafeMutableRawPointer?
  /// Lowest address of the body's stack.
  @usableFromInline package var low: UInt = 0
  /// Its size in bytes; 0 while yields must not take the fast way.
  @usableFromInline package var extent: UInt = 0

  @inlinable @inline(__always)
  package init() {}

  /// Memory for a core, and for what lies behind it.
  static func allocate(slotSize: Int, slotAlignment: Int) -> UnsafeMutablePointer<GeneratorCore> {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: slotOffset(slotAlignment) + slotSize,
      alignment: max(slotAlignment, MemoryLayout<GeneratorCore>.alignment)
    )
    return memory.initializeMemory(as: GeneratorCore.self, to: GeneratorCore())
  }

  /// Bytes from the core to the value.
  @inlinable @inline(__always)
  static func slotOffset(_ alignment: Int) -> Int {
    (MemoryLayout<GeneratorCore>.size + alignment - 1) & ~(alignment - 1)
  }

  /// Bytes from the core to a second value, which goes the other way, behind the first.
  @inlinable @inline(__always)
  static func offset<First, Second>(of second: Second.Type, behind first: First.Type) -> Int {
    let end = slotOffset(MemoryLayout<First>.alignment) + MemoryLayout<First>.size
    let alignment = MemoryLayout<Second>.alignment
    return (end + alignment - 1) & ~(alignment - 1)
  }
}

extension UnsafeMutablePointer where Pointee == GeneratorCore {
  /// The address of `callerContext`.
  @inlinable @inline(__always)
  package var caller: UnsafeMutablePointer<cck_context_t> {
    // SAFETY: the first field.
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_context_t.self)
  }

  /// The address of `bodyContext`.
  @inlinable @inline(__always)
  package var body: UnsafeMutablePointer<cck_context_t> {
    // SAFETY: the second field, of the first one's type.
    caller + 1
  }

  /// Notes who resumes the body.
  @inlinable @inline(__always)
  func noteResumer(_ fiber: UnsafeMutableRawPointer?) {
    // Mostly the same as the last time; a load and a branch then cost less than a store. As numbers, because
    // comparing optional pointers takes two tests.
    // SAFETY: an optional pointer is a word, with 0 for nil.
    let last = unsafeBitCast(pointee.resumer, to: UInt.self)
    if last != unsafeBitCast(fiber, to: UInt.self) { pointee.resumer = fiber }
  }

  /// Where a value lies between the yield and the return of `next`.
  @inlinable @inline(__always)
  func slot<Element>(of type: Element.Type) -> UnsafeMutablePointer<Element> {
    // SAFETY: `allocate` was told this type's size and alignment.
    (UnsafeMutableRawPointer(self)
      + GeneratorCore.slotOffset(MemoryLayout<Element>.alignment))
      .assumingMemoryBound(to: Element.self)
  }

  /// Where a value that goes the other way lies, behind one of `First`.
  @inlinable @inline(__always)
  func slot<First, Second>(
    of second: Second.Type,
    behind first: First.Type
  ) -> UnsafeMutablePointer<Second> {
    // SAFETY: `allocate` was told a size and an alignment that suffice for both.
    (UnsafeMutableRawPointer(self) + GeneratorCore.offset(of: second, behind: first))
      .assumingMemoryBound(to: Second.self)
  }

  /// Whether the code that asks runs on the body's stack and may yield without further ado.
  ///
  /// Code on the stack runs only while the generator does (G1).
  @inlinable @inline(__always)
  var mayYieldAtOnce: Bool {
    UInt(cck_context_frame()) &- pointee.low < pointee.extent
  }

  /// Notes the stack, and the thread that the generator is pinned to.
  func start(on stack: UnsafeMutablePointer<cck_stack_t>, pinnedTo thread: ThreadRecord?) {
    let isInstrumented = cck_is_instrumented() != 0
    // The core's own address stands for "no thread".
    pointee.whenSuspended = UInt(bitPattern: self)
    if let thread, !isInstrumented { pointee.whenSuspended = UInt(bitPattern: thread) }
    pointee.low = UInt(bitPattern: stack.pointee.low)
    pointee.extent = isInstrumented ? 0 : UInt(cck_stack_usable_size(stack))
  }

  /// From now on every yield is looked at closely.
  func endFastYields() { pointee.extent = 0 }
}
