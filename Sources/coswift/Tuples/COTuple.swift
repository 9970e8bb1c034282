// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Some values of any types, nil among them; made by `co_tuple`.
///
/// Swift's own tuples do the same with types. This is for code that comes from Objective-C.
public struct COTuple: RandomAccessCollection, @unchecked Sendable {
  // SAFETY: constant; the values go where the tuple goes, as the user asks.
  private let values: [Any?]

  init(_ values: [Any?]) {
    self.values = values
  }

  /// Number of values.
  public var count: Int { values.count }

  /// 0.
  public var startIndex: Int { 0 }

  /// `count`.
  public var endIndex: Int { values.count }

  /// The value at a position; nil if there is none there.
  ///
  /// - Parameter position: Any number.
  public subscript(position: Int) -> Any? {
    values.indices.contains(position) ? values[position] : nil
  }

  /// The first value, or nil.
  public var first: Any? { self[0] }

  /// The second value, or nil.
  public var second: Any? { self[1] }

  /// The third value, or nil.
  public var third: Any? { self[2] }
}

/// Puts values into a tuple.
///
/// - Parameter values: The values; nil is one like any other.
/// - Returns: The tuple.
public func co_tuple(_ values: Any?...) -> COTuple {
  COTuple(values)
}
