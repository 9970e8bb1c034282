// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import HTTPServer

/// Hands out a gallery on this machine alone.
struct GalleryServer {
  let server: HTTPServer

  /// Where its index page is.
  var address: String { "http://\(server.address)/" }

  init(_ gallery: Gallery, hasFaults: Bool) throws {
    let desk = Desk(gallery, hasFaults ? Faults() : nil)
    server = try HTTPServer(log: { desk.note($0) }) { try desk.answer($0) }
  }
}

/// What is said of a file before it is sent.
private struct FileFigures: Sendable {
  let length: Int
  let digest: [UInt8]
}

/// Answers the requests.
private final class Desk {
  private let exhibits: [[UInt8]: (number: Int, content: Gallery.Content)]
  private let indexPage: [UInt8]
  private let faults: Faults?
  private let studio = Studio()

  init(_ gallery: Gallery, _ faults: Faults?) {
    exhibits = Dictionary(
      gallery.exhibits.enumerated().map { ($1.name, ($0, $1.content)) }
    ) { first, _ in first }
    indexPage = Array(gallery.indexPage.utf8)
    self.faults = faults
  }

  func answer(_ request: HTTPRequest) throws -> HTTPResponse {
    guard ["GET", "HEAD"].contains(request.method) else {
      throw HTTPRefusal(405, "files are only looked at here")
    }
    guard let path = request.head.pathComponents, path.count < 2 else {
      throw HTTPRefusal(404, "there is no such file")
    }
    guard let name = path.first else {
      return HTTPResponse(
        headers: ["Content-Type": "text/html; charset=utf-8"],
        body: .bytes(indexPage)
      )
    }
    guard let exhibit = exhibits[name] else { throw HTTPRefusal(404, "there is no such file") }
    let response =
      switch exhibit.content {
      case .drawn(let draw): try drawn(name, draw)
      case .file(let path): try file(path)
      }
    return try faults?.spoil(response, of: exhibit.number) ?? response
  }

  func note(_ event: HTTPServerEvent) {
    guard case .answered(let head, 200, _) = event, let name = head.pathComponents?.first else {
      return
    }
    studio.forget(name)
  }

  private func drawn(
    _ name: [UInt8],
    _ draw: @escaping @Sendable () -> Picture
  ) throws -> HTTPResponse {
    let drawing = try studio.drawing(name, draw)
    var headers = headers(drawing.digest)
    headers.add("Content-Type", "image/png")
    return HTTPResponse(headers: headers, body: .bytes(drawing.file))
  }

  /// A file is read twice: its digest goes before it.
  private func file(_ path: BytePath) throws -> HTTPResponse {
    let figures = try offload { try Desk.figures(of: path) }
    let body = HTTPResponse.Body.stream(length: figures.length) { writer in
      let reader = try Self.openElsewhere(path)
      while true {
        let chunk = try Self.nextChunk(of: reader)
        try writer.write(chunk)
        if chunk.count < FileReader.chunkSize { return }
      }
    }
    return HTTPResponse(headers: headers(figures.digest), body: body)
  }

  private static func figures(of path: BytePath) throws -> FileFigures {
    let reader = try open(path)
    var hash = SHA256()
    var length = 0
    while true {
      let chunk = try reader.nextChunk()
      hash.add(chunk)
      length += chunk.count
      if chunk.count < FileReader.chunkSize {
        return FileFigures(length: length, digest: hash.finish())
      }
    }
  }

  private static func openElsewhere(_ path: BytePath) throws -> FileReader {
    try offload { try open(path) }
  }

  private static func nextChunk(of reader: FileReader) throws -> [UInt8] {
    try offload { Array(try reader.nextChunk()) }
  }

  private static func open(_ path: BytePath) throws -> FileReader {
    let reader = FileReader()
    guard try reader.open(path) != nil else { throw HTTPRefusal(404, "there is no such file") }
    return reader
  }

  /// RFC 9530.
  private func headers(_ digest: [UInt8]) -> HTTPHeaders {
    ["Repr-Digest": "sha-256=:\(Data(digest).base64EncodedString()):"]
  }
}
