// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines
import Synchronization

/// A descriptor of the library's own: closed once, and never under the feet of whoever uses it.
///
/// Invariants:
/// - O1. The number is given back to the system only when nobody is inside `use`: `users` counts them, and
///   whoever leaves last closes, if `close` has been called. It counts by adding and subtracting without a look for
///   overflow, which would be a loop: there are no 2⁶⁰ threads.
/// - O2. Who waits is not inside `use`; `close` ends its wait.
/// - O3. The table learns that the number stands for nothing any more before the number is given back: else whoever
///   gets it next would be told that what it has just opened has been closed. So whoever closes is counted as a user
///   until then, and from before anybody can see that it closes.
final class OwnedDescriptor: @unchecked Sendable {
  // SAFETY: constants, and an atomic; the entry guards itself.

  /// Its number; only inside `use` is it certain to be this one's still.
  let number: Int32
  private let entry: UnsafeMutablePointer<DescriptorEntry>
  private let generation: UInt32
  /// Four times the users; and `closing` once `close` was called, `closed` once the number has been given back.
  private let users = Atomic<Int>(0)
  private static let closing = 1
  private static let closed = 2
  private static let user = 4

  /// Takes over a descriptor that does not block, and will close it.
  init(takingOver number: Int32) {
    self.number = number
    // SAFETY: the system has given the number, so it is in the range of the table.
    entry = DescriptorTable.entry(number).unsafelyUnwrapped
    generation = DescriptorTable.adopt(number)
  }

  deinit { close() }

  /// It has been closed, or is being closed.
  var isClosed: Bool { users.load(ordering: .acquiring) & Self.closing != 0 }

  /// Closes it as soon as nobody uses it; who waits for it goes on at once.
  ///
  /// No effect the second time.
  func close() {
    users.wrappingAdd(Self.user, ordering: .relaxed)
    let before = users.bitwiseOr(Self.closing, ordering: .acquiringAndReleasing).oldValue
    if before & Self.closing == 0 { DescriptorTable.retire(number) }
    leave()
  }

  /// Calls the system with the number.
  ///
  /// - Parameter call: Returns what is not negative, or a negative error number; must not wait.
  /// - Returns: What the call returns; `-EBADF` after `close`.
  @inline(__always)
  func use(_ call: (Int32) -> Int) -> Int {
    let before = users.wrappingAdd(Self.user, ordering: .acquiring).oldValue
    let result = before & Self.closing == 0 ? call(number) : -Int(cio_bad_descriptor)
    leave()
    return result
  }

  @inline(__always)
  private func leave() {
    if users.wrappingSubtract(Self.user, ordering: .acquiringAndReleasing).newValue == Self.closing
    {
      giveBack()
    }
  }

  @inline(never)
  private func giveBack() {
    let (isLast, _) = users.compareExchange(
      expected: Self.closing,
      desired: Self.closing | Self.closed,
      ordering: .acquiringAndReleasing
    )
    // Somebody who came too late may be leaving, too.
    if isLast { _ = cio_close(number) }
  }

  /// How often it has become ready so far; to be read before the call that would block, and passed to `wait`.
  @inline(__always)
  func edges(_ direction: DescriptorDirection) -> UInt32 { entry.edges(direction) }

  /// A read of less than was asked for may not have been all.
  var hasHungUp: Bool { entry.pointee.hasHungUp.load(ordering: .acquiring) }

  /// Parks until it has become ready once more than `seen` times.
  ///
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inline(__always)
  func wait(
    for direction: DescriptorDirection,
    since seen: UInt32,
    deadline: Int64?,
    _ operation: StaticString
  ) throws -> DescriptorWait.Outcome {
    try DescriptorWait.wait(
      entry,
      number,
      generation: generation,
      for: direction,
      since: seen,
      deadline: deadline,
      operation
    )
  }
}
