// SPDX-License-Identifier: Apache-2.0

// Shows: model, view and view model with coroutines, without any framework: validation, a login of three requests,
// errors, a limit of time, and a screen that is left while it loads.
//
// LoginModel.swift is the view model; it reads from top to bottom, with no callback and no flag. The view is `print`, the
// server a stand-in. All runs in virtual time, so that "the server takes a minute" takes no time.
//
// Output:
//
//   nothing entered
//     [Enter your name.]
//   a short password
//     [A password has 4 characters or more.]
//     requests: 0
//   a wrong password
//     (logging in)
//     [Wrong name or password.]
//   the right one, tapped twice
//     (logging in)
//     (loading the profile)
//     (loading the picture)
//     welcome Ada, o-o
//     requests: 4, 3.0 seconds since the tap
//   a server that takes a minute
//     (logging in)
//     [The server does not answer. Try again.]
//     10.0 seconds since the tap, 1 request given up
//   the user leaves after a second
//     (logging in)
//     [Name and password, please.]
//     1.0 seconds since the tap, 2 requests given up

import Coroutines
import CoroutinesTesting

/// A server that answers after a while.
final class StandIn: LoginService {
  var delay = Duration.seconds(1)
  private(set) var requests = 0
  private(set) var givenUp = 0

  func logIn(user: String, password: String) throws -> String {
    try answer()
    guard user == "ada", password == "right" else { throw Refused() }
    return "token"
  }

  func profile(token: String) throws -> (name: String, pictureAddress: String) {
    try answer()
    return ("Ada", "/ada.png")
  }

  func picture(at address: String) throws -> String {
    try answer()
    return "o-o"
  }

  private func answer() throws {
    requests += 1
    var isAnswered = false
    defer { if !isAnswered { givenUp += 1 } }
    try Coroutine.sleep(for: delay)
    isAnswered = true
  }
}

func show(_ state: LoginModel.State) {
  switch state {
  case .editing(let hint): print("  [\(hint ?? "Name and password, please.")]")
  case .busy(let what): print("  (\(what))")
  case .loggedIn(let profile): print("  welcome \(profile.name), \(profile.picture)")
  }
}

let scheduler = TestScheduler()
try scheduler.run {
  let server = StandIn()
  let model = LoginModel(server, onChange: show)
  var tap = scheduler.elapsed
  var sinceTap: String { "\(scheduler.elapsed - tap) since the tap" }

  print("nothing entered")
  model.submit()
  print("a short password")
  (model.user, model.password) = ("ada", "abc")
  model.submit()
  print("  requests: \(server.requests)")

  print("a wrong password")
  model.password = "wrong"
  try model.submit()?.join()

  print("the right one, tapped twice")
  model.password = "right"
  tap = scheduler.elapsed
  let login = model.submit()
  model.submit()
  try login?.join()
  print("  requests: \(server.requests), \(sinceTap)")

  print("a server that takes a minute")
  server.delay = .seconds(60)
  tap = scheduler.elapsed
  try model.submit()?.join()
  print("  \(sinceTap), \(server.givenUp) request given up")

  print("the user leaves after a second")
  tap = scheduler.elapsed
  let abandoned = model.submit()
  try Coroutine.sleep(for: .seconds(1))
  model.leave()
  try abandoned?.join()
  print("  \(sinceTap), \(server.givenUp) requests given up")
}
