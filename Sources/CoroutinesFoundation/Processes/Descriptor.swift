// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import Coroutines
import Foundation

/// A file descriptor that coroutines read and write, without changing its flags: others may share them.
///
/// Pipes, sockets and terminals are waited for and then used with calls that do not block. Files are
/// always ready, and slow all the same: for them the calls are offloaded. Outside a coroutine all of
/// it blocks.
struct Descriptor {
  private enum Kind {
    case file, socket, other
  }

  let number: Int32
  /// Keeps the descriptor open.
  private let owner: FileHandle
  private let kind: Kind

  init(_ handle: FileHandle) throws {
    number = handle.fileDescriptor
    owner = handle
    var status = stat()
    guard fstat(number, &status) == 0 else { throw POSIXError.current }
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG, S_IFBLK, S_IFDIR: .file
      case S_IFSOCK: .socket
      default: .other
      }
  }

  // MARK: - Reading

  /// Reads what there is, and waits only if there is nothing.
  ///
  /// *Cancellation:* has read nothing.
  ///
  /// - Returns: At most `count` bytes; none at the end.
  func read(upTo count: Int) throws -> Data {
    if kind == .file { return try readFile(count) }
    while true {
      try Readiness.toRead.wait(number)
      var data = Data(count: count)
      let result = data.withUnsafeMutableBytes { Foundation.read(number, $0.baseAddress, $0.count) }
      if result >= 0 { return data.prefix(result) }
      // Somebody else was quicker, if they share the descriptor.
      guard errno == EAGAIN || errno == EINTR else { throw POSIXError.current }
    }
  }

  /// Reads without moving the position, and moves it afterwards, so that a cancelled read leaves it.
  private func readFile(_ count: Int) throws -> Data {
    let position = lseek(number, 0, SEEK_CUR)
    let (number, owner) = (number, owner)
    let data = try blockingCall {
      try withExtendedLifetime(owner) {
        var data = Data(count: count)
        while true {
          let result = data.withUnsafeMutableBytes {
            pread(number, $0.baseAddress, $0.count, position)
          }
          if result >= 0 { return data.prefix(result) }
          guard errno == EINTR else { throw POSIXError.current }
        }
      }
    }
    lseek(number, position + off_t(data.count), SEEK_SET)
    return data
  }

  /// Reads until the end.
  func readToEnd() throws -> Data {
    var all = Data()
    while true {
      let data = try read(upTo: 1 << 16)
      if data.isEmpty { return all }
      all.append(data)
    }
  }

  // MARK: - Writing

  /// Writes all of it.
  ///
  /// *Cancellation:* ends the wait for room; what has been written has been written.
  func write(_ data: Data) throws {
    if kind == .file {
      let (number, owner) = (number, owner)
      try blockingCall {
        try withExtendedLifetime(owner) {
          var rest = data[...]
          while !rest.isEmpty { rest = rest.dropFirst(try Self.write(rest, to: number)) }
        }
      }
      return
    }
    // A blocking pipe that is ready takes so many bytes at once; a call with more would block.
    let step = fcntl(number, F_GETFL) & O_NONBLOCK != 0 ? 1 << 16 : Int(PIPE_BUF)
    var rest = data[...]
    while !rest.isEmpty {
      try Readiness.toWrite.wait(number)
      let written =
        kind == .socket
        ? try send(rest) : try Self.write(rest.prefix(step), to: number)
      rest = rest.dropFirst(written)
    }
  }

  private func send(_ data: Data) throws -> Int {
    try Self.checked(data.withUnsafeBytes { cio_send(number, $0.baseAddress, $0.count) })
  }

  private static func write(_ data: Data, to number: Int32) throws -> Int {
    try checked(data.withUnsafeBytes { cio_write(number, $0.baseAddress, $0.count) })
  }

  /// What has been written: nothing, if it is to be tried again.
  private static func checked(_ result: Int) throws -> Int {
    if result >= 0 { return result }
    let code = Int32(truncatingIfNeeded: -result)
    guard code == EAGAIN || code == EINTR else {
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    return 0
  }
}
