// SPDX-License-Identifier: Apache-2.0

/// Something that a supervisor did, or that happened to a child of it.
public enum SupervisionEvent: Sendable {
  /// A child began.
  case started(String)
  /// A child threw.
  case failed(String, any Error)
  /// A child is going to be restarted, after a wait.
  case restarting(String, after: Duration)
  /// A child began again.
  case restarted(String)
  /// A child has ended for good.
  case stopped(String)
  /// A child was cancelled and had not ended when its time for that was over.
  case didNotStop(String)
  /// The supervisor has ended, with this error, if there was one: always the last event.
  case ended((any Error)?)
}
