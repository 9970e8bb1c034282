// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// What a walk comes upon.
enum Finding: Sendable, Equatable {
  /// A regular file to count, and how much of the tree lies behind it, from 0 to 1.
  case file(BytePath, position: Double)
  /// A directory, before what is in it.
  case directory(BytePath)
  /// A directory that is left out because its name begins with a dot.
  case hidden(BytePath)
  /// A directory that is left out because another file system is mounted there.
  case mount(BytePath)
  /// A symbolic link; not followed.
  case link(BytePath)
  /// A pipe, socket or device.
  case special(BytePath)
  case problem(Problem)
}

/// Walks a directory tree, depth first, in the order of names.
///
/// The walk is a recursive function that yields from whatever depth it is in. It is lazy: a directory
/// is read when the one who asks gets there. Symbolic links are looked at but not followed, so the walk
/// ends; only the root may be one.
struct TreeWalk: Sendable {
  let root: BytePath
  /// Go into directories whose name begins with a dot.
  var includesHidden = false
  /// Go into other file systems that are mounted in the tree.
  var includesMounts = false
  /// The root is a file: there is nothing to walk.
  var isFile = false

  /// The findings, reading directories with `blocking`.
  func findings(_ blocking: BlockingCalls) -> Generator<Finding> {
    // A path has at most 4,096 bytes, hence 2,048 levels: this is room for them, at 1 KiB each, many
    // times over. It is address space, not memory.
    Generator(stackSize: .kibibytes(8 << 10)) { yield in
      if isFile { return try yield(.file(root, position: 1)) }
      let walker = Walker(walk: self, blocking: blocking, yield: yield)
      try walker.visit(root, above: [], from: 0, to: 1)
    }
  }

  /// The recursion, and what stays the same on all levels.
  private struct Walker {
    let walk: TreeWalk
    let blocking: BlockingCalls
    let yield: Generator<Finding>.Yield

    /// Visits a directory that takes up the part of the tree between two positions.
    func visit(
      _ path: BytePath,
      above ancestors: [FileIdentity],
      from start: Double,
      to end: Double
    ) throws {
      let directory: Directory
      do {
        let isRoot = ancestors.isEmpty
        directory = try blocking { try Directory(reading: path, followsLink: isRoot) }
      } catch let problem as Problem {
        return try yield(.problem(problem))
      }
      if let root = ancestors.first, root.device != directory.identity.device, !walk.includesMounts
      {
        return try yield(.mount(path))
      }
      try yield(.directory(path))
      let lineage = ancestors + [directory.identity]
      let share = (end - start) / Double(max(directory.entries.count, 1))
      for (index, entry) in directory.entries.enumerated() {
        let position = start + share * Double(index)
        let path = path.appending(entry.name)
        switch entry.kind {
        case .file: try yield(.file(path, position: position + share))
        case .directory where entry.name.first == UInt8(ascii: ".") && !walk.includesHidden:
          try yield(.hidden(path))
        case .directory: try visit(path, above: lineage, from: position, to: position + share)
        case .link(let target?) where lineage.contains(target):
          try yield(.problem(Problem(.linkCycle, path, "leads to a directory that it is in")))
        case .link: try yield(.link(path))
        case .deadLink(let code): try yield(.problem(.deadLink(path, errno: code)))
        case .special: try yield(.special(path))
        case .unknown(let code): try yield(.problem(Problem(path, errno: code)))
        }
      }
    }
  }
}

extension Problem {
  /// A symbolic link that could not be resolved.
  fileprivate static func deadLink(_ path: BytePath, errno code: Int32) -> Problem {
    switch code {
    case ELOOP: Problem(.linkCycle, path, "links that lead to each other")
    case ENOENT, ENOTDIR: Problem(.brokenLink, path, "leads nowhere")
    default: Problem(.unreadable, path, Problem.text(code))
    }
  }
}
