// SPDX-License-Identifier: Apache-2.0

/// A point in a scheduler's time at which something is to be done.
///
/// Lives where its maker put it, and is disarmed before it goes away.
package struct KernelTimer {
  /// When, in nanoseconds of the scheduler's clock; not to be changed while armed.
  package var deadline: Int64
  /// Its record in the wheel while it is armed, else `TimerRecord.none`.
  var record: UInt32
  /// What to do.
  ///
  /// Runs with the home's turn, on the loop's own stack; must not park.
  package var fire: (UnsafeMutablePointer<KernelTimer>) -> Void
  /// For `fire`.
  package var context: UnsafeMutableRawPointer?

  /// It waits for its deadline.
  package var isArmed: Bool { record != TimerRecord.none }

  /// A timer that is not armed.
  package init(
    deadline: Int64,
    context: UnsafeMutableRawPointer?,
    fire: @escaping (UnsafeMutablePointer<KernelTimer>) -> Void
  ) {
    self.deadline = deadline
    self.record = TimerRecord.none
    self.fire = fire
    self.context = context
  }
}
