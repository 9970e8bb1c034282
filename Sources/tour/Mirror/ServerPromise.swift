// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a server has said about a file before it sent it.
struct ServerPromise: Sendable {
  private let length: Int?
  private let digest: [UInt8]?

  init(_ response: URLResponse) {
    let http = response as? HTTPURLResponse
    let coding = http?.value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
    // Of what is encoded all the same, `URLSession` has undone the coding.
    let isPlain = coding.lowercased() == "identity"
    length = isPlain ? http?.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) } : nil
    digest =
      isPlain
      ? ["Repr-Digest", "Content-Digest"].lazy
        .compactMap { http?.value(forHTTPHeaderField: $0).flatMap(Self.digest) }.first : nil
  }

  /// Takes SHA-256 out of a field of RFC 9530: `sha-256=:base64:, sha-512=:base64:`.
  static func digest(in field: String) -> [UInt8]? {
    for member in field.split(separator: ",") {
      let text = member.trimmingCharacters(in: .whitespaces)
      let prefix = "sha-256=:"
      guard text.lowercased().hasPrefix(prefix), text.hasSuffix(":") else { continue }
      let digest = Data(base64Encoded: String(text.dropFirst(prefix.count).dropLast()))
      return digest?.count == 32 ? digest.map { Array($0) } : nil
    }
    return nil
  }

  /// Compares with what has come.
  ///
  /// - Returns: By what it is known to be all.
  /// - Throws: `FetchFailure`.
  func verify(_ count: Int, _ hash: [UInt8]) throws -> FileCopy.Verification {
    if let length, length != count {
      throw FetchFailure(.damaged, "\(count) bytes instead of \(length)")
    }
    if let digest, digest != hash {
      throw FetchFailure(.damaged, "its digest is not the one that the server sent")
    }
    return digest != nil ? .digest : length != nil ? .length : .end
  }
}
