// SPDX-License-Identifier: Apache-2.0

/// What there is to know about a file that has been counted.
struct FileFacts: Sendable, Hashable {
  let path: BytePath
  let identity: FileIdentity
  let counts: Counts
  let hash: UInt64
}

/// What came of counting a file.
enum FileOutcome: Sendable {
  case counted(FileFacts)
  /// It has become a pipe, socket or device since its directory was read.
  case special(BytePath)
  case problem(Problem)
}

/// Counts files, one after the other.
final class FileCounter: @unchecked Sendable {
  // SAFETY: as for `FileReader`: one call at a time.

  private let reader = FileReader()
  private var path = BytePath([])
  private var identity: FileIdentity?
  private var counter = ByteCounter()
  private var hash = ContentHash()

  private enum Step: Sendable {
    case more
    case done(FileOutcome)
  }

  /// Counts a file, chunk by chunk.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isRoot: It was named by the user, who may have named a symbolic link.
  ///   - blocking: How to wait for the disk. A small file takes one wait.
  ///   - onChunk: Gets the number of bytes that each chunk had.
  func count(
    _ path: BytePath, isRoot: Bool = false, _ blocking: BlockingCalls, onChunk: (Int) -> Void
  ) throws -> FileOutcome {
    var step = try blocking { self.begin(path, isRoot) }
    var counted = 0
    while true {
      onChunk(counter.counts.bytes - counted)
      counted = counter.counts.bytes
      if case .done(let outcome) = step { return outcome }
      step = try blocking { self.addChunk() }
    }
  }

  private func begin(_ path: BytePath, _ isRoot: Bool) -> Step {
    self.path = path
    counter = ByteCounter()
    hash = ContentHash()
    do {
      identity = try reader.open(path, followsLink: isRoot)
    } catch let problem as Problem {
      return .done(.problem(problem))
    } catch {
      return .done(.problem(Problem(.unreadable, path, "\(error)")))
    }
    return identity == nil ? .done(.special(path)) : addChunk()
  }

  private func addChunk() -> Step {
    do {
      let chunk = try reader.nextChunk()
      counter.add(chunk)
      let tailStart = chunk.count & ~31
      hash.add(stripes: UnsafeRawBufferPointer(rebasing: chunk[..<tailStart]))
      if chunk.count == FileReader.chunkSize { return .more }
      reader.close()
      guard let identity else { return .done(.special(path)) }
      let tail = UnsafeRawBufferPointer(rebasing: chunk[tailStart...])
      return .done(
        .counted(
          FileFacts(
            path: path, identity: identity, counts: counter.counts,
            hash: hash.finish(tail: tail))))
    } catch let problem as Problem {
      return .done(.problem(problem))
    } catch {
      return .done(.problem(Problem(.unreadable, path, "\(error)")))
    }
  }
}
