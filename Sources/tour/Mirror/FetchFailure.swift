// SPDX-License-Identifier: Apache-2.0

/// Why an attempt at a file has failed.
struct FetchFailure: Error, Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable {
    /// A status that is not 200.
    case status
    /// The connection could not be made, or broke.
    case connection
    /// Nothing came for too long, or it took too long in all.
    case timeout
    /// It has another length or digest than the server said.
    case damaged
    /// It cannot be written here.
    case unwritable

    /// For people.
    var words: String {
      switch self {
      case .status: "refused"
      case .connection: "broken connection"
      case .timeout: "out of time"
      case .damaged: "damaged"
      case .unwritable: "cannot be written"
      }
    }
  }

  let kind: Kind
  let reason: String
  /// Another attempt may do better.
  let isPassing: Bool
  /// The server wants to be left alone for so long.
  var delay: Duration?

  init(_ kind: Kind, _ reason: String, isPassing: Bool = true, delay: Duration? = nil) {
    self.kind = kind
    self.reason = reason
    self.isPassing = isPassing
    self.delay = delay
  }
}
