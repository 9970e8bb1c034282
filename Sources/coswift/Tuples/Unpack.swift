// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Writes the value at `position` to a variable; one of another type counts as nil.
///
/// Beyond the end of the tuple the variable stays as it is.
private func unpack<Value>(_ target: inout Value?, _ tuple: COTuple, _ position: Int) {
  // Unwrapped first: a nil that is cast to `Any` is a value.
  if position < tuple.count { target = tuple[position].flatMap { $0 as? Value } }
}

/// Assigns the first value of a tuple to a variable.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - tuple: The tuple.
public func co_unpack<A>(
  _ a: inout A?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
}

/// Assigns the values of a tuple to two variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - tuple: The tuple.
public func co_unpack<A, B>(
  _ a: inout A?,
  _ b: inout B?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
}

/// Assigns the values of a tuple to three variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - tuple: The tuple.
public func co_unpack<A, B, C>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
}

/// Assigns the values of a tuple to four variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - d: Gets the fourth value.
///   - tuple: The tuple.
public func co_unpack<A, B, C, D>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  _ d: inout D?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
  unpack(&d, tuple, 3)
}

/// Assigns the values of a tuple to five variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - d: Gets the fourth value.
///   - e: Gets the fifth value.
///   - tuple: The tuple.
public func co_unpack<A, B, C, D, E>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  _ d: inout D?,
  _ e: inout E?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
  unpack(&d, tuple, 3)
  unpack(&e, tuple, 4)
}

/// Assigns the values of a tuple to six variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - d: Gets the fourth value.
///   - e: Gets the fifth value.
///   - f: Gets the sixth value.
///   - tuple: The tuple.
public func co_unpack<A, B, C, D, E, F>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  _ d: inout D?,
  _ e: inout E?,
  _ f: inout F?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
  unpack(&d, tuple, 3)
  unpack(&e, tuple, 4)
  unpack(&f, tuple, 5)
}

/// Assigns the values of a tuple to seven variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - d: Gets the fourth value.
///   - e: Gets the fifth value.
///   - f: Gets the sixth value.
///   - g: Gets the seventh value.
///   - tuple: The tuple.
public func co_unpack<A, B, C, D, E, F, G>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  _ d: inout D?,
  _ e: inout E?,
  _ f: inout F?,
  _ g: inout G?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
  unpack(&d, tuple, 3)
  unpack(&e, tuple, 4)
  unpack(&f, tuple, 5)
  unpack(&g, tuple, 6)
}

/// Assigns the values of a tuple to eight variables.
///
/// Further values are ignored. A variable for which there is no value stays as it is; one whose value is
/// nil, or of another type, becomes nil.
///
/// - Parameters:
///   - a: Gets the first value.
///   - b: Gets the second value.
///   - c: Gets the third value.
///   - d: Gets the fourth value.
///   - e: Gets the fifth value.
///   - f: Gets the sixth value.
///   - g: Gets the seventh value.
///   - h: Gets the eighth value.
///   - tuple: The tuple.
public func co_unpack<A, B, C, D, E, F, G, H>(
  _ a: inout A?,
  _ b: inout B?,
  _ c: inout C?,
  _ d: inout D?,
  _ e: inout E?,
  _ f: inout F?,
  _ g: inout G?,
  _ h: inout H?,
  from tuple: COTuple
) {
  unpack(&a, tuple, 0)
  unpack(&b, tuple, 1)
  unpack(&c, tuple, 2)
  unpack(&d, tuple, 3)
  unpack(&e, tuple, 4)
  unpack(&f, tuple, 5)
  unpack(&g, tuple, 6)
  unpack(&h, tuple, 7)
}
