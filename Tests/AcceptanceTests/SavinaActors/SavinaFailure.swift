// SPDX-License-Identifier: Apache-2.0

/// Something was not as a program wants it.
struct SavinaFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws if the condition does not hold.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    if !condition { throw SavinaFailure(description()) }
  }
}
