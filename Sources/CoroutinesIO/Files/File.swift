// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// A file of the file system.
///
/// ```swift
/// let file = try File.open("numbers", .writing)
/// try file.write("42".utf8, at: 0)
/// try file.sync()
/// file.close()
/// ```
///
/// No system tells when a file is "ready", so each call runs on a thread of the pool of `offload`, and parks its
/// coroutine meanwhile. There is no position that calls would share: each says where it reads or writes. Any number
/// of coroutines may use a file at a time.
///
/// *Cancellation:* ends the wait. A call that had not begun is not made; one that had goes on to its end, unseen.
///
/// Cost: a turn of the pool for each call, some microseconds; so read and write some 64 KiB at a time.
public final class File: Sendable {
  private let descriptor: OwnedDescriptor
  private let isForAppending: Bool

  /// What it was opened as.
  public let path: String

  private init(_ descriptor: OwnedDescriptor, _ path: String, isForAppending: Bool) {
    self.descriptor = descriptor
    self.path = path
    self.isForAppending = isForAppending
  }

  /// What a file is opened for.
  public struct Mode: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int32

    /// A set from its bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    init(_ value: some BinaryInteger) { rawValue = Int32(value) }

    /// Its bytes may be read.
    public static let read = Mode(cio_file_read)
    /// Its bytes may be written.
    public static let write = Mode(cio_file_write)
    /// It is made if it is not there.
    public static let create = Mode(cio_file_create)
    /// It is made, and must not be there: `EEXIST`.
    public static let exclusive = Mode(cio_file_exclusive)
    /// It is emptied.
    public static let truncate = Mode(cio_file_truncate)
    /// Each write goes to its end, wherever that is by then, whoever else appends: only `append` writes.
    public static let append = Mode(cio_file_append)

    /// To read what is there.
    public static let reading: Mode = [.read]
    /// To write anew: made, or emptied.
    public static let writing: Mode = [.write, .create, .truncate]
    /// To read and to change what is there; made if it is not.
    public static let updating: Mode = [.read, .write, .create]
    /// To add to what is there; made if it is not.
    public static let appending: Mode = [.write, .create, .append]
  }

  /// Opens a file; parks until it is open.
  ///
  /// *Cancellation:* ends the wait; nothing stays open, though the file may have been made or emptied.
  ///
  /// - Parameters:
  ///   - path: Its path.
  ///   - mode: What for.
  ///   - permissions: Who may use it if it is made, as of `chmod`; the process's `umask` takes some away.
  /// - Returns: The file. Programs that the process starts do not get it.
  /// - Throws: `IOError` with the path; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func open(
    _ path: String,
    _ mode: Mode = .reading,
    permissions: UInt16 = 0o666
  ) throws -> File {
    try offload {
      while true {
        let result = cio_open(path, mode.rawValue, UInt32(permissions))
        if result == -Int(cio_interrupted) { continue }
        let number = Int32(try IOError.check(result, "opening", path))
        let isForAppending = mode.contains(.append)
        return File(OwnedDescriptor(takingOver: number), path, isForAppending: isForAppending)
      }
    }
  }

  // MARK: - Reading

  /// Reads bytes at a place.
  ///
  /// *Cancellation:* ends the wait.
  ///
  /// - Parameters:
  ///   - offset: Where the first one is, from the beginning of the file.
  ///   - count: At most so many.
  /// - Returns: The bytes; fewer only at the end of the file, none behind it.
  /// - Throws: `IOError` with the path; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(at offset: Int64, upTo count: Int = 1 << 16) throws -> [UInt8] {
    demand(
      offset >= 0 && count >= 0,
      "File.read(at: \(offset), upTo: \(count)): place and count must be 0 or more."
    )
    return try offload { [self] in
      var failure: (any Error)?
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
        while read < count {
          let rest = UnsafeMutableBufferPointer(rebasing: buffer[read...])
          do {
            let now = try call("reading") {
              cio_read_at($0, rest.baseAddress, rest.count, offset + Int64(read))
            }
            if now == 0 { break }
            read += now
          } catch {
            failure = error
            break
          }
        }
      }
      if let failure { throw failure }
      return bytes
    }
  }

  /// Reads all that is there.
  ///
  /// *Cancellation:* ends the wait.
  ///
  /// - Parameter limit: The most that is kept; more is an `IOError` with `EMSGSIZE`.
  /// - Returns: The bytes.
  /// - Throws: As `read(at:upTo:)`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func readToEnd(limit: Int = 1 << 30) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      // What the system says of its size may change, and is 0 for files of /proc.
      let more = try read(at: Int64(all.count), upTo: max(1 << 16, min(all.count, 1 << 24)))
      if more.isEmpty { return all }
      if all.count + more.count > limit {
        throw IOError(code: cio_too_long, operation: "reading", subject: path)
      }
      all += more
    }
  }

  // MARK: - Writing

  /// Writes bytes at a place; the file grows if they do not fit.
  ///
  /// *Cancellation:* ends the wait; the bytes may be written all the same.
  ///
  /// - Parameters:
  ///   - bytes: What to write.
  ///   - offset: Where the first one goes, from the beginning of the file.
  /// - Throws: `IOError` with the path: `ENOSPC` if the disk is full, and a part may have been written; `EINVAL` for
  ///   a file that was opened to append; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(_ bytes: some Sequence<UInt8>, at offset: Int64) throws {
    demand(offset >= 0, "File.write(_:at: \(offset)): the place must be 0 or more.")
    // The system would append, whatever the place.
    if isForAppending { throw failure(cio_invalid, "writing") }
    try writeAll(Array(bytes)) { cio_write_at($0, $1.baseAddress, $1.count, offset + Int64($2)) }
  }

  /// Writes bytes at the end; nobody else's get between them, unless the disk is full.
  ///
  /// *Cancellation:* ends the wait; the bytes may be written all the same.
  ///
  /// - Parameter bytes: What to write.
  /// - Throws: As `write(_:at:)`; `EINVAL` for a file that was not opened to append.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func append(_ bytes: some Sequence<UInt8>) throws {
    if !isForAppending { throw failure(cio_invalid, "appending to") }
    try writeAll(Array(bytes)) { number, bytes, _ in
      cio_append(number, bytes.baseAddress, bytes.count)
    }
  }

  private func writeAll(
    _ bytes: [UInt8],
    _ write: @escaping @Sendable (Int32, UnsafeBufferPointer<UInt8>, Int) -> Int
  ) throws {
    try offload { [self] in
      try bytes.withUnsafeBufferPointer { all in
        var written = 0
        while written < all.count {
          let rest = UnsafeBufferPointer(rebasing: all[written...])
          written += try call("writing") { write($0, rest, written) }
        }
      }
    }
  }

  // MARK: - The file as a whole

  /// How many bytes it has.
  ///
  /// *Cancellation:* ends the wait.
  ///
  /// - Returns: The number; 0 for what has no size, as devices.
  /// - Throws: `IOError` with the path; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func size() throws -> Int64 {
    try offload { [self] in Int64(try call("measuring") { cio_file_size($0) }) }
  }

  /// Cuts it off, or lengthens it with zeros.
  ///
  /// *Cancellation:* ends the wait; it may happen all the same.
  ///
  /// - Parameter size: Its length after that, in bytes.
  /// - Throws: `IOError` with the path; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func truncate(to size: Int64) throws {
    demand(size >= 0, "File.truncate(to: \(size)): the size must be 0 or more.")
    try offload { [self] in _ = try call("truncating") { cio_truncate($0, size) } }
  }

  /// Has the system put on the disk what has been written; parks until it has.
  ///
  /// *Cancellation:* ends the wait; it may happen all the same.
  ///
  /// - Parameter dataOnly: Leave out what is not needed to read the bytes again, such as times.
  /// - Throws: `IOError` with the path: what has been written may be lost then; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func sync(dataOnly: Bool = false) throws {
    try offload { [self] in _ = try call("writing to disk") { cio_sync($0, dataOnly ? 1 : 0) } }
  }

  /// Closes it, as soon as calls that run have ended; later ones get an `IOError` with `EBADF`.
  ///
  /// No effect the second time. It closes by itself when nobody has it any more. Errors of writing that the system
  /// reports only then are lost: `sync` before.
  public func close() { descriptor.close() }

  /// It has been closed here.
  public var isClosed: Bool { descriptor.isClosed }

  // MARK: - Inside

  /// Calls the system, on a thread of the pool; a `close` meanwhile waits for it.
  private func call(_ operation: String, _ body: (Int32) -> Int) throws -> Int {
    while true {
      let result = descriptor.use(body)
      if result >= 0 { return result }
      if result != -Int(cio_interrupted) { throw failure(Int32(-result), operation) }
    }
  }

  private func failure(_ code: Int32, _ operation: String) -> IOError {
    descriptor.error(code, operation, path)
  }
}
