// SPDX-License-Identifier: Apache-2.0
//
// Compiled against a stand-in by `scripts/check-uikit`; never run.

#if canImport(UIKit)
public import Coroutines
public import UIKit

/// A button of an alert or an action sheet.
public struct AlertButton: Sendable, Hashable {
  /// What a button is for.
  public enum Role: Sendable, Hashable {
    /// One of the choices.
    case choice
    /// Leaves all as it is.
    case cancel
    /// Takes something away for good.
    case destruction
  }

  /// What is on it.
  public var title: String
  /// What it is for.
  public var role: Role

  /// A button.
  ///
  /// - Parameters:
  ///   - title: What is on it.
  ///   - role: What it is for.
  public init(_ title: String, role: Role = .choice) {
    self.title = title
    self.role = role
  }
}

extension UIViewController: CoroutineNamespaceProviding {}

/// Questions to the user, answered by a button.
extension CoroutineNamespace where Base: UIAlertController {
  /// Shows an alert; the promise is fulfilled with the button that was pressed.
  ///
  /// Never parks; from any thread. Cancelling the promise takes the alert away.
  ///
  /// - Parameters:
  ///   - title: In bold.
  ///   - message: Below it.
  ///   - buttons: Those without a title are left out. There must be one with.
  ///   - presenter: Over what to show it.
  /// - Returns: The promise; rejected with `AlertError.noButtons` if no button has a title.
  public static func alert(
    title: String?,
    message: String? = nil,
    buttons: [AlertButton],
    from presenter: UIViewController
  ) -> Promise<AlertButton> {
    ask(.alert, title, message, buttons, presenter)
  }

  /// Shows an action sheet; the promise is fulfilled with the button that was pressed.
  ///
  /// As `alert(title:message:buttons:from:)`.
  ///
  /// - Parameters:
  ///   - title: In bold.
  ///   - message: Below it.
  ///   - buttons: Those without a title are left out. There must be one with.
  ///   - presenter: Over what to show it.
  /// - Returns: The promise.
  public static func actionSheet(
    title: String?,
    message: String? = nil,
    buttons: [AlertButton],
    from presenter: UIViewController
  ) -> Promise<AlertButton> {
    ask(.actionSheet, title, message, buttons, presenter)
  }

  private static func ask(
    _ style: UIAlertController.Style,
    _ title: String?,
    _ message: String?,
    _ buttons: [AlertButton],
    _ presenter: UIViewController
  ) -> Promise<AlertButton> {
    mainThreadPromise { promise in
      let buttons = buttons.filter { !$0.title.isEmpty }
      // Without a button it could never be taken away.
      guard !buttons.isEmpty else { throw AlertError.noButtons }
      let controller = UIAlertController(title: title, message: message, preferredStyle: style)
      for button in buttons {
        let style: UIAlertAction.Style =
          switch button.role {
          case .choice: .default
          case .cancel: .cancel
          case .destruction: .destructive
          }
        controller.addAction(
          UIAlertAction(title: button.title, style: style) { _ in promise.fulfill(button) }
        )
      }
      promise.onCancelOnMainThread { [weak controller] in controller?.dismiss(animated: true) }
      presenter.present(controller, animated: true)
    }
  }
}

/// A question that cannot be asked.
public struct AlertError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Sendable, Hashable {
    case noButtons
  }

  private let kind: Kind

  /// No button has a title.
  public static let noButtons = AlertError(kind: .noButtons)

  /// What happened, and what to do.
  public var description: String {
    "An alert was asked for without a button that has a title, so nobody could have closed it. "
      + "Give it one."
  }

  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: AlertError, error: any Error) -> Bool {
    (error as? AlertError) == pattern
  }
}
#endif
