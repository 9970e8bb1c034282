// SPDX-License-Identifier: Apache-2.0

/// Why a request is refused, with the status that says so to the client.
///
/// A handler may throw it, too, and lets through those that reading a body throws.
package struct HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status of the answer: 400 to 599.
  package let status: Int
  /// What is wrong, in one line; the client gets it.
  package let reason: String

  /// A refusal.
  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// "400 Bad Request: there is no Host".
  package var description: String { "\(status) \(HTTPStatus.phrase(status)): \(reason)" }
}
