// SPDX-License-Identifier: Apache-2.0
//
// Compiled against a stand-in by `scripts/check-uikit`; never run.

#if canImport(UIKit) && !os(tvOS)
public import Coroutines
public import Foundation
public import UIKit

/// What the user has picked.
public struct PickedImage: Sendable {
  /// The picture as it was taken; nil for films.
  public var originalImage: UIImage?
  /// The picture as the user has changed it.
  public var editedImage: UIImage?
  /// The file of a picture.
  public var imageURL: URL?
  /// The file of a film.
  public var mediaURL: URL?
  /// The kind, as a type identifier.
  public var mediaType: String?
}

/// Letting the user pick a picture or a film.
extension CoroutineNamespace where Base: UIImagePickerController {
  /// Shows a picker; the promise is fulfilled with what was picked, or nil if the user cancels.
  ///
  /// Never parks; from any thread. Cancelling the promise takes the picker away. While it is shown, the
  /// picker's delegate is one of this library's.
  ///
  /// - Parameters:
  ///   - sourceType: Camera or library.
  ///   - presenter: Over what to show it.
  /// - Returns: The promise.
  public static func pick(
    from sourceType: UIImagePickerController.SourceType = .photoLibrary,
    over presenter: UIViewController
  ) -> Promise<PickedImage?> {
    mainThreadPromise { promise in
      let picker = UIImagePickerController()
      picker.sourceType = sourceType
      let picked = Promise.delegated(by: PickerAnswer.init) { answer in
        picker.delegate = answer
        presenter.present(picker, animated: true)
      }
      promise.onCancelOnMainThread { [weak picker] in
        picked.cancel()
        picker?.dismiss(animated: true)
      }
      promise.follow(picked)
    }
  }
}

/// The delegate of one picker.
@MainActor
private final class PickerAnswer: NSObject, UIImagePickerControllerDelegate,
  UINavigationControllerDelegate
{
  private let done: CallbackResolver<PickedImage?>

  nonisolated init(_ done: CallbackResolver<PickedImage?>) { self.done = done }

  func imagePickerController(
    _ picker: UIImagePickerController,
    didFinishPickingMediaWithInfo info: [UIImagePickerController.InfoKey: Any]
  ) {
    picker.dismiss(animated: true)
    done(
      PickedImage(
        originalImage: info[.originalImage] as? UIImage,
        editedImage: info[.editedImage] as? UIImage,
        imageURL: info[.imageURL] as? URL,
        mediaURL: info[.mediaURL] as? URL,
        mediaType: info[.mediaType] as? String
      )
    )
  }

  func imagePickerControllerDidCancel(_ picker: UIImagePickerController) {
    picker.dismiss(animated: true)
    done(PickedImage?.none)
  }
}
#endif
