// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A call of the system that failed: which one, on what, and why.
public struct IOError: Error, Hashable, Sendable {
  /// The system's error number, as of `errno`.
  ///
  /// `ECONNRESET`, `EMFILE`, `ETIMEDOUT` and so on.
  /// `EBADF` after the object was closed, by the caller or by another coroutine meanwhile; or if it is not open for what was to be
  /// done, or its descriptor was closed by code that it did not belong to. The description says which.
  public let code: Int32

  /// What was being done: "reading", "connecting".
  public let operation: String

  /// The other end, or the path; nil if there is none.
  public let subject: String?

  /// What to do, where the code alone does not tell.
  private let advice: String?

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The system's error number.
  ///   - operation: What was being done.
  ///   - subject: The other end, or the path.
  public init(code: Int32, operation: String, subject: String? = nil) {
    self.init(code: code, operation: operation, subject: subject, advice: nil)
  }

  /// One that knows better what to do than its code.
  init(code: Int32, operation: String, subject: String?, advice: String?) {
    self.code = code
    self.operation = operation
    self.subject = subject
    self.advice = advice
  }
}

extension IOError: CustomStringConvertible {
  /// One line for people, with what to do where the code alone tells that.
  ///
  /// "accepting on 127.0.0.1:80: Too many open files (24). Close …".
  public var description: String { summary + ((advice ?? commonAdvice).map { ". \($0)" } ?? "") }

  /// What happened, and to what: "reading from 127.0.0.1:80: Connection reset by peer (104)".
  var summary: String {
    let name = String(cString: cio_error_text(code))
    return "\(operation)\(subject.map { " \($0)" } ?? ""): \(name) (\(code))"
  }

  /// What to do, where that does not depend on what was tried.
  private var commonAdvice: String? {
    switch code {
    case EMFILE, ENFILE: "Close descriptors that are not used, or raise the limit (`ulimit -n`)."
    case EBADF:
      "It has been closed, here or by another coroutine: close it when nobody uses it any more."
    case EPIPE, ECONNRESET: "The other end is gone: give up, or connect again."
    case ECONNREFUSED: "Nobody listens there: start the server, or check address and port."
    case EADDRINUSE:
      "Somebody else listens there: take another port, or port 0 for one that is free."
    case EADDRNOTAVAIL: "This machine does not have that address: take `.loopback` or `.any`."
    case ETIMEDOUT:
      "Nothing moved for so long: give up, connect again, or allow more in `idleTimeout`."
    case EMSGSIZE:
      "It is longer than the limit of that call: give a higher one, if the peer may be trusted."
    default: nil
    }
  }
}
