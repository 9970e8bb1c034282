// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension PropertyListDecoder: CoroutineNamespaceProviding {}
extension PropertyListEncoder: CoroutineNamespaceProviding {}
extension PropertyListSerialization: CoroutineNamespaceProviding {}

/// Decoding property lists into types.
extension CoroutineNamespace where Base: PropertyListDecoder {
  /// Decodes a value; as `PropertyListDecoder.decode(_:from:)`, on a thread of the offload pool.
  ///
  /// Outside a coroutine it runs on the caller's thread. The initialisers of the types run there too: they
  /// must not park.
  ///
  /// *Cancellation:* decoding that has begun is waited for; its value is dropped.
  ///
  /// - Parameters:
  ///   - type: What to make.
  ///   - data: A property list.
  /// - Returns: The value.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    let base = base
    return try exclusiveCall { try base.decode(type, from: data) }
  }
}

/// Encoding types as property lists.
extension CoroutineNamespace where Base: PropertyListEncoder {
  /// Encodes a value; as `PropertyListEncoder.encode(_:)`, on a thread of the offload pool.
  ///
  /// Outside a coroutine it runs on the caller's thread. The value's `encode(to:)` runs there too: it must
  /// not park, and what it reads must not be changed meanwhile.
  ///
  /// *Cancellation:* encoding that has begun is waited for; what it has made is dropped.
  ///
  /// - Parameter value: What to encode.
  /// - Returns: A property list.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    let base = base
    return try exclusiveCall { try base.encode(value) }
  }
}

/// Property lists as dictionaries, arrays, strings, numbers, dates and data.
///
/// Each runs on a thread of the offload pool, or on the caller's outside a coroutine.
///
/// *Cancellation:* of reading data ends the wait at once. What uses objects or streams of the caller's is
/// waited for, once it has begun; they must not be used elsewhere meanwhile.
extension CoroutineNamespace where Base: PropertyListSerialization {
  /// Whether an object can be written in a format.
  ///
  /// - Parameters:
  ///   - list: The object.
  ///   - format: The format.
  /// - Returns: True if it can.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func propertyList(
    _ list: Any,
    isValidFor format: PropertyListSerialization.PropertyListFormat
  ) throws -> Bool {
    try exclusiveCall { PropertyListSerialization.propertyList(list, isValidFor: format) }
  }

  /// Makes an object of a property list.
  ///
  /// - Parameters:
  ///   - data: The list.
  ///   - options: How.
  /// - Returns: The object, and the format that the list was in.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func propertyList(
    from data: Data,
    options: PropertyListSerialization.ReadOptions = []
  ) throws
    -> sending (
      object: Any, format: PropertyListSerialization.PropertyListFormat
    )
  {
    try blockingCall {
      var format = PropertyListSerialization.PropertyListFormat.xml
      let object = try PropertyListSerialization.propertyList(
        from: data,
        options: options,
        format: &format
      )
      return (object: object, format: format)
    }
  }

  /// Makes an object of the property list in a stream.
  ///
  /// - Parameters:
  ///   - stream: An open stream.
  ///   - options: How.
  /// - Returns: The object, and the format that the list was in.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func propertyList(
    with stream: InputStream,
    options: PropertyListSerialization.ReadOptions = []
  ) throws -> (object: Any, format: PropertyListSerialization.PropertyListFormat) {
    try exclusiveCall {
      var format = PropertyListSerialization.PropertyListFormat.xml
      let object = try PropertyListSerialization.propertyList(
        with: stream,
        options: options,
        format: &format
      )
      return (object: object, format: format)
    }
  }

  /// Writes an object as a property list.
  ///
  /// - Parameters:
  ///   - list: The object.
  ///   - format: The format.
  /// - Returns: The list.
  /// - Throws: `CocoaError(.propertyListWriteInvalid)` if the object cannot be written, where the plain
  ///   call stops some programs; what that throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func data(
    fromPropertyList list: Any,
    format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws -> Data {
    try exclusiveCall { try bytes(of: list, format) }
  }

  /// Writes an object as a property list to a stream.
  ///
  /// Works on all systems, also where Foundation has no such call.
  ///
  /// - Parameters:
  ///   - list: The object.
  ///   - stream: An open stream.
  ///   - format: The format.
  /// - Returns: The bytes written.
  /// - Throws: As `data(fromPropertyList:format:)`; what the stream reports.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func writePropertyList(
    _ list: Any,
    to stream: OutputStream,
    format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws -> Int {
    try exclusiveCall { try stream.writeAll(bytes(of: list, format)) }
  }

  private static func bytes(
    of list: Any,
    _ format: PropertyListSerialization.PropertyListFormat
  ) throws -> Data {
    guard PropertyListSerialization.propertyList(list, isValidFor: format) else {
      throw CocoaError(
        .propertyListWriteInvalid,
        userInfo: [NSDebugDescriptionErrorKey: "The object has parts that a property list has not."]
      )
    }
    return try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
  }
}
