// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Something in the tree that could not be counted: reported, and never the end of the tour.
struct Problem: Error, Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable {
    /// A symbolic link that leads nowhere.
    case brokenLink
    /// A symbolic link to a directory that it is in, or links that lead to each other.
    case linkCycle
    /// It was there when its directory was read, and is gone.
    case vanished
    /// A file or a directory that cannot be opened or read.
    case unreadable

    /// For people.
    var words: String {
      switch self {
      case .brokenLink: "broken link"
      case .linkCycle: "link cycle"
      case .vanished: "vanished"
      case .unreadable: "unreadable"
      }
    }
  }

  let kind: Kind
  let path: BytePath
  /// What the system says about it.
  let reason: String

  init(_ kind: Kind, _ path: BytePath, _ reason: String) {
    self.kind = kind
    self.path = path
    self.reason = reason
  }

  /// A system call on `path` has failed.
  init(_ path: BytePath, errno code: Int32) {
    self.init(code == ENOENT ? .vanished : .unreadable, path, Self.text(code))
  }

  static func text(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
