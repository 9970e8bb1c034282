// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// The pictures of a directory.
struct Album {
  /// A directory that cannot be read.
  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  private let path: String
  private let files: [(name: String, bytes: Int)]

  /// Files that were thought to be pictures.
  var count: Int { files.count }

  /// Lists the files whose names end as those of pictures do; parks meanwhile.
  init(_ path: String) throws {
    self.path = path
    files = try offload { try Self.list(path) }
  }

  private static let endings = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff"]

  private static func list(_ path: String) throws -> [(name: String, bytes: Int)] {
    guard let directory = opendir(path) else {
      throw Unreadable(description: "\(path): \(String(cString: strerror(errno)))")
    }
    defer { closedir(directory) }
    var files: [(name: String, bytes: Int)] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      if !name.hasPrefix("."), endings.contains(where: { name.lowercased().hasSuffix($0) }),
        stat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG
      {
        files.append((name, Int(status.st_size)))
      }
    }
    return files.sorted { $0.name < $1.name }
  }

  /// Decodes and scales all of them, so many at a time; parks meanwhile.
  ///
  /// libgd knows nothing of coroutines and computes for as long as it likes: `offload` gives each picture to a
  /// thread of the pool. The semaphore keeps the number of decoded pictures small, which are large.
  ///
  /// - Parameters:
  ///   - cell: Pixels of a thumbnail's longer side.
  ///   - jobs: How many at a time.
  /// - Returns: The thumbnails in the order of the names; nil for each file that is no picture.
  /// - Throws: `CancellationError`.
  func thumbnails(cell: Int, jobs: Int) throws -> [Thumbnail?] {
    let permits = CoroutineSemaphore(permits: jobs)
    return try withCoroutineScope { scope in
      try files.map { file in
        scope.launch(name: file.name) { [path] in
          try permits.withPermit {
            try offload {
              Thumbnail.read("\(path)/\(file.name)", name: file.name, bytes: file.bytes, cell: cell)
            }
          }
        }
      }.map { try $0.value() }
    }
  }
}
