// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import tour

/// A directory tree for one test, made with system calls so that names can be any bytes.
final class MadeTree {
  struct Failure: Error {
    let call: String
    let code: Int32
  }

  let root: BytePath

  init() throws {
    var template = Array("/tmp/tour-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(call: "mkdtemp", code: errno) }
    root = BytePath(template.dropLast().map { UInt8(bitPattern: $0) })
  }

  deinit {
    Self.remove(root)
  }

  var path: String { root.description }

  func at(_ name: [UInt8]) -> BytePath { root.appending(name) }

  func at(_ name: String) -> BytePath { at(Array(name.utf8)) }

  @discardableResult
  func file(_ name: [UInt8], _ content: [UInt8]) throws -> BytePath {
    let path = at(name)
    let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o644) }
    try check("open", descriptor)
    defer { close(descriptor) }
    try check("write", Int32(truncatingIfNeeded: write(descriptor, content, content.count)))
    return path
  }

  @discardableResult
  func file(_ name: String, _ content: String = "") throws -> BytePath {
    try file(Array(name.utf8), Array(content.utf8))
  }

  /// A file that takes no room on the disk and very long to read.
  func endlessFile(_ name: String) throws {
    let path = try file(name)
    try check("truncate", path.withCString { truncate($0, 1 << 43) })
  }

  func directory(_ name: String) throws {
    try check("mkdir", at(name).withCString { mkdir($0, 0o755) })
  }

  func link(_ name: String, to target: String) throws {
    try check("symlink", at(name).withCString { symlink(target, $0) })
  }

  func hardLink(_ name: String, to target: String) throws {
    let target = at(target)
    let result = at(name).withCString { name in
      target.withCString { Glibc.link($0, name) }
    }
    try check("link", result)
  }

  func pipe(_ name: String) throws {
    try check("mkfifo", at(name).withCString { mkfifo($0, 0o644) })
  }

  func setMode(_ name: String, _ mode: mode_t) throws {
    try check("chmod", at(name).withCString { chmod($0, mode) })
  }

  func remove(_ name: String) {
    Self.remove(at(name))
  }

  private func check(_ call: String, _ result: Int32) throws {
    if result < 0 { throw Failure(call: call, code: errno) }
  }

  private static func remove(_ path: BytePath) {
    _ = path.withCString { chmod($0, 0o755) }
    if path.withCString({ unlink($0) }) == 0 { return }
    if let directory = try? Directory(reading: path, followsLink: false) {
      for entry in directory.entries { remove(path.appending(entry.name)) }
    }
    _ = path.withCString { rmdir($0) }
  }
}
