// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What tells one file from another, under whatever names.
struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The contents of a directory, read at one go.
struct Directory: Sendable {
  enum Kind: Sendable, Equatable {
    case file
    case directory
    /// A symbolic link to something that is there; for a directory, which.
    case link(toDirectory: FileIdentity?)
    /// A symbolic link that leads nowhere, and why.
    case deadLink(errno: Int32)
    /// A pipe, socket or device: reading it might wait for ever, or never end.
    case special
    /// It was gone, or could not be looked at.
    case unknown(errno: Int32)
  }

  struct Entry: Sendable {
    let name: [UInt8]
    let kind: Kind
  }

  let identity: FileIdentity
  /// In the order of their names, so that every walk sees the same.
  let entries: [Entry]

  /// Reads a directory; blocks.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - followsLink: If `path` is a symbolic link, it stands for what it leads to.
  /// - Throws: `Problem`.
  init(reading path: BytePath, followsLink: Bool) throws {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    let descriptor = path.withCString { open($0, flags) }
    guard descriptor >= 0 else { throw Problem(path, errno: errno) }
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw Problem(path, errno: code)
    }
    defer { closedir(stream) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Problem(path, errno: errno) }
    identity = FileIdentity(status)
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = Self.name(of: entry)
      if name == [0x2E] || name == [0x2E, 0x2E] { continue }
      entries.append(Entry(name: name, kind: Self.kind(of: entry, in: descriptor)))
    }
    guard errno == 0 else { throw Problem(path, errno: errno) }
    self.entries = entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withName(of: entry) { name in
      Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }
  }

  /// Calls `body` with the name where it stands: a copy of the `dirent` would be cut off.
  private static func withName<Result>(
    of entry: UnsafeMutablePointer<dirent>,
    _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    // SAFETY: readdir returns a name that ends in NUL, and keeps it until the next call.
    return body(
      (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
    )
  }

  private static func kind(of entry: UnsafeMutablePointer<dirent>, in parent: Int32) -> Kind {
    switch Int(entry.pointee.d_type) {
    case Int(DT_REG): return .file
    case Int(DT_DIR): return .directory
    case Int(DT_LNK): return linkKind(of: entry, in: parent)
    case Int(DT_UNKNOWN): break
    default: return .special
    }
    // Some file systems do not say.
    var status = stat()
    let result = withName(of: entry) { fstatat(parent, $0, &status, AT_SYMLINK_NOFOLLOW) }
    guard result == 0 else { return .unknown(errno: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .directory
    case S_IFLNK: return linkKind(of: entry, in: parent)
    default: return .special
    }
  }

  private static func linkKind(of entry: UnsafeMutablePointer<dirent>, in parent: Int32) -> Kind {
    var status = stat()
    let result = withName(of: entry) { fstatat(parent, $0, &status, 0) }
    guard result == 0 else { return .deadLink(errno: errno) }
    let isDirectory = status.st_mode & S_IFMT == S_IFDIR
    return .link(toDirectory: isDirectory ? FileIdentity(status) : nil)
  }
}
