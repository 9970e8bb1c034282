// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Draws pictures when they are asked for, each once until it has been delivered.
///
/// Who comes again because it took too long finds the same drawing further on, or done.
final class Studio {
  /// A picture as a file.
  struct Drawing: Sendable {
    let file: [UInt8]
    let digest: [UInt8]
  }

  private var drawings: [[UInt8]: Promise<Drawing>] = [:]

  /// The file; parks until it is drawn.
  ///
  /// *Cancellation:* ends the wait; the drawing goes on.
  func drawing(
    _ name: [UInt8],
    _ draw: @escaping @Sendable () -> Picture
  ) throws -> Drawing {
    let promise = drawings[name] ?? Promise { try Self.draw(draw) }
    drawings[name] = promise
    return try promise.await()
  }

  /// Somebody has it: it need not be kept.
  func forget(_ name: [UInt8]) { drawings[name] = nil }

  private static func draw(_ draw: @escaping @Sendable () -> Picture) throws -> Drawing {
    try offload {
      let file = PNG.encode(draw())
      return Drawing(file: file, digest: SHA256.digest(of: file))
    }
  }
}
