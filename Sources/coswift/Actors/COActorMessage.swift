// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

/// A message to an actor, and the way to answer it.
///
/// One that goes away without an answer is rejected, with an error that says so.
public class COActorMessage: @unchecked Sendable {
  // SAFETY: constants; the promise guards its own state.

  /// What was sent.
  public let type: Any?
  private let completable: COActorCompletable

  init(_ type: Any?, _ completable: COActorCompletable) {
    self.type = type
    self.completable = completable
  }

  deinit {
    if completable.isPending { completable.core.reject(PromiseError.abandoned) }
  }

  // MARK: - Answering

  /// Answers the message; a second answer is ignored.
  ///
  /// nil is an answer, too, except after an await in the same handler that gave an error: then the message is
  /// rejected with that error. So `message.complete(value)` is enough where the value is nil on failure.
  ///
  /// - Parameter value: The answer.
  public func complete(_ value: Any?) {
    if value == nil, let error = co_getError() {
      completable.reject(error: error)
    } else {
      completable.fulfill(value: value)
    }
  }

  /// Rejects the message; after an answer it is ignored.
  ///
  /// - Parameter error: The error.
  public func fail(_ error: any Error) {
    completable.reject(error: error)
  }

  // MARK: - Reading

  /// The message as a string: a string itself, or a number's decimal form; else nil.
  public var stringType: String? {
    (type as? String) ?? number.map(\.stringValue)
  }

  /// The message as an integer, if it is a number; a fraction is cut off, and what does not fit is nil.
  public var intType: Int? { integer() }

  /// The message as an integer without a sign, if it is a number; what does not fit is nil.
  public var uintType: UInt? { integer() }

  /// The message as a floating-point number, if it is a number.
  public var doubleType: Double? {
    if let number = type as? any BinaryFloatingPoint { return Double(number) }
    return number?.doubleValue
  }

  /// The message as a short floating-point number, if it is a number.
  public var floatType: Float? { doubleType.map { Float($0) } }

  /// The message as a dictionary, if it is one.
  public var dictType: [AnyHashable: Any]? { type as? [AnyHashable: Any] }

  /// The message as an array, if it is one.
  public var arrayType: [Any]? { type as? [Any] }

  /// The message, if it is a number of any type that Foundation knows.
  private var number: NSNumber? { type as? NSNumber }

  private func integer<Number: FixedWidthInteger>() -> Number? {
    if let number = type as? any BinaryInteger { return Number(exactly: number) }
    return doubleType.flatMap { Number(exactly: $0.rounded(.towardZero)) }
  }
}
