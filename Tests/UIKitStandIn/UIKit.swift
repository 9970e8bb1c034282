// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
//
// The declarations of UIKit that the wrappers use, with no behaviour: `scripts/check-uikit` compiles
// the wrappers against them where there is no UIKit. No target of the package; users never see it.

import Foundation

open class UIImage: NSObject, @unchecked Sendable {
  public init?(data: Data, scale: CGFloat) { nil }
  public init?(contentsOfFile path: String) { nil }
  open func preparingForDisplay() -> UIImage? { nil }
  open func pngData() -> Data? { nil }
  open func jpegData(compressionQuality: CGFloat) -> Data? { nil }
}

@MainActor
open class UIResponder: NSObject {
  public nonisolated override init() {}
}

@MainActor
open class UIViewController: UIResponder {
  open func present(
    _ controller: UIViewController,
    animated flag: Bool,
    completion: (() -> Void)? = nil
  ) {}
  open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {}
}

@MainActor
open class UIAlertAction: NSObject {
  public enum Style: Int, Sendable { case `default`, cancel, destructive }
  public nonisolated override init() {}
  public convenience init(
    title: String?,
    style: Style,
    handler: (@MainActor @Sendable (UIAlertAction) -> Void)? = nil
  ) {
    self.init()
  }
}

@MainActor
open class UIAlertController: UIViewController {
  public enum Style: Int, Sendable { case actionSheet, alert }
  public convenience init(title: String?, message: String?, preferredStyle: Style) { self.init() }
  open func addAction(_ action: UIAlertAction) {}
}

@MainActor
public protocol UINavigationControllerDelegate: NSObjectProtocol {}

@MainActor
public protocol UIImagePickerControllerDelegate: NSObjectProtocol {
  func imagePickerController(
    _ picker: UIImagePickerController,
    didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any]
  )
  func imagePickerControllerDidCancel(_ picker: UIImagePickerController)
}

@MainActor
open class UIImagePickerController: UIViewController {
  public enum SourceType: Int, Sendable { case photoLibrary, camera, savedPhotosAlbum }
  public struct InfoKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let originalImage = InfoKey(rawValue: "originalImage")
    public static let editedImage = InfoKey(rawValue: "editedImage")
    public static let imageURL = InfoKey(rawValue: "imageURL")
    public static let mediaURL = InfoKey(rawValue: "mediaURL")
    public static let mediaType = InfoKey(rawValue: "mediaType")
  }
  open var sourceType: SourceType = .photoLibrary
  open weak var delegate: (any UIImagePickerControllerDelegate & UINavigationControllerDelegate)?
}

@MainActor
open class UIApplication: UIResponder {
  public struct OpenExternalURLOptionsKey: Hashable, Sendable {}
  public static let shared = UIApplication()
  open func open(
    _ url: URL,
    options: [OpenExternalURLOptionsKey: Any] = [:],
    completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
  ) {}
}
