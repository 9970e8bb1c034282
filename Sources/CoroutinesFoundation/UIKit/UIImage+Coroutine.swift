// SPDX-License-Identifier: Apache-2.0
//
// Compiled against a stand-in by `scripts/check-uikit`; never run.

#if canImport(UIKit)
public import Foundation
public import UIKit

extension UIImage: CoroutineNamespaceProviding {}

/// Decoding and encoding images on a thread of the offload pool.
///
/// Outside a coroutine they run on the caller's thread. An image that cannot be decoded is nil, as by the
/// plain calls.
///
/// *Cancellation:* ends the wait at once; what has begun goes on unobserved.
extension CoroutineNamespace where Base: UIImage {
  /// Decodes an image, ready to be shown.
  ///
  /// - Parameters:
  ///   - data: Its bytes.
  ///   - scale: Pixels to a point.
  /// - Returns: The image; nil if the bytes are none.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func image(data: Data, scale: CGFloat = 1) throws -> UIImage? {
    try blockingCall { decoded(UIImage(data: data, scale: scale)) }
  }

  /// Reads and decodes an image, ready to be shown.
  ///
  /// - Parameter path: The file. Of `a.png`, the variant for the screen (`a@2x.png`) is taken if there is
  ///   one.
  /// - Returns: The image; nil if there is none.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func image(contentsOfFile path: String) throws -> UIImage? {
    try blockingCall { decoded(UIImage(contentsOfFile: path)) }
  }

  /// The image, ready to be shown: its pixels are there.
  ///
  /// - Returns: The image; nil if that is not possible.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func decoded() throws -> UIImage? {
    let base = base
    return try blockingCall { base.preparingForDisplay() }
  }

  /// The image as PNG.
  ///
  /// - Returns: The bytes; nil if that is not possible.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func pngData() throws -> Data? {
    let base = base
    return try blockingCall { base.pngData() }
  }

  /// The image as JPEG.
  ///
  /// - Parameter quality: From 0, the smallest, to 1, the best.
  /// - Returns: The bytes; nil if that is not possible.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func jpegData(compressionQuality quality: CGFloat) throws -> Data? {
    let base = base
    return try blockingCall { base.jpegData(compressionQuality: quality) }
  }

  private static func decoded(_ image: UIImage?) -> UIImage? {
    image.map { $0.preparingForDisplay() ?? $0 }
  }
}
#endif
