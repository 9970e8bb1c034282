// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files of the same content, two or more, in the order of names.
struct DuplicateSet: Sendable, Hashable {
  /// Of each of them.
  let bytes: Int
  let paths: [BytePath]

  /// What could be saved by keeping one.
  var wasted: Int { bytes * (paths.count - 1) }
}

/// What came of comparing files that may be the same.
struct Comparison: Sendable {
  var sets: [DuplicateSet] = []
  var problems: [Problem] = []
}

/// Looks for files of the same content.
enum Duplicates {
  private struct Key: Hashable {
    let bytes: Int
    let hash: UInt64
  }

  /// Groups of files of the same length and hash.
  ///
  /// Empty files are left out, and so are further names of the same file (hard links): they waste
  /// nothing.
  static func candidates(among files: [FileFacts]) -> [[FileFacts]] {
    var groups: [Key: [FileFacts]] = [:]
    for file in files where file.counts.bytes > 0 {
      groups[Key(bytes: file.counts.bytes, hash: file.hash), default: []].append(file)
    }
    var result: [[FileFacts]] = []
    for group in groups.values where group.count > 1 {
      var seen: Set<FileIdentity> = []
      let files = group.sorted { $0.path < $1.path }.filter { seen.insert($0.identity).inserted }
      if files.count > 1 { result.append(files) }
    }
    return result.sorted { $0[0].path < $1[0].path }
  }

  /// A group of fewer bytes is compared on one trip to another thread, together with others.
  private static let smallGroup = 1 << 20

  /// Sorts out which files of each group really are the same, byte for byte.
  ///
  /// - Parameters:
  ///   - groups: Candidates.
  ///   - pair: Reads the files.
  ///   - blocking: How to wait for the disk.
  ///   - onBytes: Gets the number of bytes that have been compared since the last time.
  ///   - deliver: Gets what came of each group, by its index.
  /// - Throws: `CancellationError`.
  static func confirm(
    _ groups: [[FileFacts]],
    with pair: FilePair,
    _ blocking: BlockingCalls,
    onBytes: (Int) -> Void,
    deliver: (Int, Comparison) -> Void
  ) throws {
    let sizes = groups.map { $0.reduce(0) { $0 + $1.counts.bytes } }
    let (small, big) = (
      groups.indices.filter { sizes[$0] < smallGroup },
      groups.indices.filter { sizes[$0] >= smallGroup }
    )
    let comparisons = try blocking {
      try small.map { try confirm(groups[$0], with: pair, .direct) { _ in } }
    }
    for (index, comparison) in zip(small, comparisons) {
      onBytes(sizes[index])
      deliver(index, comparison)
    }
    for index in big {
      deliver(index, try confirm(groups[index], with: pair, blocking, onBytes: onBytes))
    }
  }

  private static func confirm(
    _ group: [FileFacts],
    with pair: FilePair,
    _ blocking: BlockingCalls,
    onBytes: (Int) -> Void
  ) throws -> Comparison {
    var comparison = Comparison()
    var classes: [[BytePath]] = []
    files: for file in group {
      for index in classes.indices {
        do {
          let first = classes[index][0]
          guard try pair.areSame(first, file.path, blocking, onBytes: onBytes) else { continue }
          classes[index].append(file.path)
        } catch let problem as Problem {
          comparison.problems.append(problem)
        }
        continue files
      }
      classes.append([file.path])
    }
    comparison.sets = classes.filter { $0.count > 1 }.map {
      DuplicateSet(bytes: group[0].counts.bytes, paths: $0)
    }
    return comparison
  }
}

/// Compares files, two at a time.
final class FilePair: @unchecked Sendable {
  // SAFETY: as for `FileReader`: one call at a time.

  private let one = FileReader()
  private let other = FileReader()

  private enum Step: Sendable {
    case same(bytes: Int)
    case done(areSame: Bool)
  }

  /// True if the two files have the same content.
  ///
  /// - Throws: `Problem` if one of them cannot be read any more.
  func areSame(
    _ first: BytePath,
    _ second: BytePath,
    _ blocking: BlockingCalls,
    onBytes: (Int) -> Void
  ) throws -> Bool {
    var step = try blocking {
      let identities = (try self.one.open(first), try self.other.open(second))
      if identities.0 == nil || identities.1 == nil { return Step.done(areSame: false) }
      return try self.compareChunk()
    }
    while case .same(let bytes) = step {
      onBytes(bytes)
      step = try blocking { try self.compareChunk() }
    }
    guard case .done(let areSame) = step else { return false }
    return areSame
  }

  private func compareChunk() throws -> Step {
    let (left, right) = (try one.nextChunk(), try other.nextChunk())
    let areSame = left.count == right.count && Self.isSame(left, right)
    if areSame, left.count == FileReader.chunkSize { return .same(bytes: left.count) }
    one.close()
    other.close()
    return .done(areSame: areSame)
  }

  private static func isSame(
    _ left: UnsafeRawBufferPointer,
    _ right: UnsafeRawBufferPointer
  ) -> Bool {
    guard let one = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(one, other, left.count) == 0
  }
}
