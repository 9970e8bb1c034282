// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What a user sees after logging in.
struct Profile: Equatable {
  let name: String
  let picture: String
}

/// The server, as the view model needs it; each call parks.
protocol LoginService {
  func logIn(user: String, password: String) throws -> String
  func profile(token: String) throws -> (name: String, pictureAddress: String)
  func picture(at address: String) throws -> String
}

/// The server says that name and password do not belong together.
struct Refused: Error {}

/// The view model of a login screen: what a view shows is `state`, what a user does are the methods.
///
/// It belongs to one scheduler, in an app that of the main queue, so it needs no lock and no hop.
final class LoginModel {
  enum State: Equatable {
    case editing(hint: String?)
    case busy(String)
    case loggedIn(Profile)
  }

  private(set) var state = State.editing(hint: nil) {
    didSet { if state != oldValue { onChange(state) } }
  }
  var user = ""
  var password = ""

  private let service: any LoginService
  private let onChange: (State) -> Void
  private var attempt: Coroutine?

  init(_ service: any LoginService, onChange: @escaping (State) -> Void) {
    self.service = service
    self.onChange = onChange
  }

  /// The button; a second tap while the first is being answered does nothing.
  @discardableResult
  func submit() -> Coroutine? {
    if case .busy = state { return nil }
    if let problem { state = .editing(hint: problem); return nil }
    state = .busy("logging in")
    attempt = launch(name: "login") {
      do {
        try withTimeout(.seconds(10)) { try self.logIn() }
      } catch is Refused {
        self.state = .editing(hint: "Wrong name or password.")
      } catch is TimeoutError {
        self.state = .editing(hint: "The server does not answer. Try again.")
      } catch is CancellationError {
        self.state = .editing(hint: nil)
      }
    }
    return attempt
  }

  /// The user leaves the screen: whatever is under way is given up.
  func leave() { attempt?.cancel() }

  /// Three requests, each of which needs the answer to the one before.
  private func logIn() throws {
    let token = try service.logIn(user: user, password: password)
    state = .busy("loading the profile")
    let (name, address) = try service.profile(token: token)
    state = .busy("loading the picture")
    let picture = try service.picture(at: address)
    state = .loggedIn(Profile(name: name, picture: picture))
  }

  /// What is wrong with the input; no request is made for it.
  private var problem: String? {
    if user.isEmpty { return "Enter your name." }
    if password.count < 4 { return "A password has 4 characters or more." }
    return nil
  }
}
