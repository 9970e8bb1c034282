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

  /// A trip to another thread counts so many bytes at least, if there are so many: several small files,
  /// or a piece of a big one.
  private static let bytesPerTrip = 1 << 20

  private let reader = FileReader()
  private var waiting: ArraySlice<BytePath> = []
  /// The file that is being counted; nil between two.
  private var identity: FileIdentity?
  private var counter = ByteCounter()
  private var hash = ContentHash()

  /// What was done on one trip.
  private struct Trip: Sendable {
    var outcomes: [FileOutcome] = []
    var bytes = 0
  }

  /// Counts files.
  ///
  /// - Parameters:
  ///   - paths: The files.
  ///   - isRoot: They were named by the user, who may have named symbolic links.
  ///   - blocking: How to wait for the disk.
  ///   - onBytes: Gets the number of bytes that have been counted since the last time.
  ///   - deliver: Gets what came of each file, in order.
  /// - Throws: `CancellationError`.
  func count(
    _ paths: [BytePath],
    isRoot: Bool = false,
    _ blocking: BlockingCalls,
    onBytes: (Int) -> Void,
    deliver: (FileOutcome) -> Void
  ) throws {
    waiting = paths[...]
    while !waiting.isEmpty {
      let trip = try blocking { self.makeTrip(isRoot) }
      onBytes(trip.bytes)
      for outcome in trip.outcomes { deliver(outcome) }
    }
  }

  private func makeTrip(_ isRoot: Bool) -> Trip {
    var trip = Trip()
    while trip.bytes < Self.bytesPerTrip, let path = waiting.first {
      var outcome: FileOutcome?
      do {
        if identity == nil {
          identity = try reader.open(path, followsLink: isRoot)
          counter = ByteCounter()
          hash = ContentHash()
        }
        if let identity {
          outcome = try addChunk(of: path, identity, &trip)
        } else {
          outcome = .special(path)
        }
      } catch {
        outcome = .problem(error as? Problem ?? Problem(.unreadable, path, "\(error)"))
      }
      guard let outcome else { continue }
      reader.close()
      identity = nil
      trip.outcomes.append(outcome)
      waiting = waiting.dropFirst()
    }
    return trip
  }

  /// Counts a chunk; has the facts if it was the last.
  private func addChunk(
    of path: BytePath,
    _ identity: FileIdentity,
    _ trip: inout Trip
  ) throws -> FileOutcome? {
    let chunk = try reader.nextChunk()
    counter.add(chunk)
    trip.bytes += chunk.count
    let tailStart = chunk.count & ~31
    hash.add(stripes: UnsafeRawBufferPointer(rebasing: chunk[..<tailStart]))
    guard chunk.count < FileReader.chunkSize else { return nil }
    let tail = UnsafeRawBufferPointer(rebasing: chunk[tailStart...])
    return .counted(
      FileFacts(
        path: path,
        identity: identity,
        counts: counter.counts,
        hash: hash.finish(tail: tail)
      )
    )
  }
}
