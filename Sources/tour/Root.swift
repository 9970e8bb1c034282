// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where the tour starts.
struct Root: Sendable, Equatable {
  /// Why it cannot start there.
  struct Unusable: Error, Equatable {
    let message: String
  }

  let path: BytePath
  /// It is a file, not a directory.
  let isFile: Bool

  /// Looks at the path that the user named, or finds one.
  init(_ named: BytePath?) throws(Unusable) {
    path = named ?? Self.package(around: Self.currentDirectory())
    var status = stat()
    guard path.withCString({ stat($0, &status) }) == 0 else {
      throw Unusable(message: "\(path): \(Problem.text(errno))")
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: isFile = false
    case S_IFREG: isFile = true
    default: throw Unusable(message: "\(path): neither a directory nor a regular file")
    }
    let mode = isFile ? R_OK : R_OK | X_OK
    guard path.withCString({ access($0, mode) }) == 0 else {
      throw Unusable(message: "\(path): \(Problem.text(errno))")
    }
  }

  /// The nearest directory with a Package.swift, from `start` upwards; `start` if there is none.
  static func package(around start: BytePath) -> BytePath {
    var directory = start
    while true {
      let manifest = directory.appending(Array("Package.swift".utf8))
      if manifest.withCString({ access($0, F_OK) }) == 0 { return directory }
      guard let slash = directory.bytes.lastIndex(of: UInt8(ascii: "/")), directory.bytes.count > 1
      else { return start }
      directory = BytePath(Array(directory.bytes[..<max(slash, 1)]))
    }
  }

  private static func currentDirectory() -> BytePath {
    guard let path = getcwd(nil, 0) else { return BytePath(".") }
    defer { free(path) }
    return BytePath(Array(UnsafeRawBufferPointer(start: path, count: strlen(path))))
  }
}
