// SPDX-License-Identifier: Apache-2.0

extension Trace {
  /// `fetch #7`, `#7 Main.swift:12`, or `#7`.
  func label(of coroutine: UInt64) -> String {
    let member = coroutines[coroutine]
    if let name = member?.name { return "\(name) #\(coroutine)" }
    guard let site = member?.creationSite else { return "#\(coroutine)" }
    return "#\(coroutine) \(site.split(separator: "/").last ?? "")"
  }

  /// `channel "jobs"`, `channel Main.swift:12`, or `CoroutineSemaphore`.
  func label(of object: Object) -> String {
    // What is of no kind of its own has the name of its type.
    if object.kind == .other { return object.name ?? "something" }
    if let name = object.name { return "\(object.kind.rawValue) \"\(name)\"" }
    guard let site = object.creationSite else { return object.kind.rawValue }
    return "\(object.kind.rawValue) \(site.split(separator: "/").last ?? "")"
  }
}
