// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension JSONDecoder: CoroutineNamespaceProviding {}
extension JSONEncoder: CoroutineNamespaceProviding {}
extension JSONSerialization: CoroutineNamespaceProviding {}

/// Decoding JSON into types.
extension CoroutineNamespace where Base: JSONDecoder {
  /// Decodes a value; as `JSONDecoder.decode(_:from:)`, on a thread of the offload pool.
  ///
  /// Outside a coroutine it runs on the caller's thread. The initialisers of the types run there too: they
  /// must not park.
  ///
  /// *Cancellation:* decoding that has begun is waited for, since it uses the decoder; its value is
  /// dropped.
  ///
  /// - Parameters:
  ///   - type: What to make.
  ///   - data: JSON.
  /// - Returns: The value.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    let base = base
    return try exclusiveCall { try base.decode(type, from: data) }
  }
}

/// Encoding types as JSON.
extension CoroutineNamespace where Base: JSONEncoder {
  /// Encodes a value; as `JSONEncoder.encode(_:)`, on a thread of the offload pool.
  ///
  /// Outside a coroutine it runs on the caller's thread. The value's `encode(to:)` runs there too: it must
  /// not park, and what it reads must not be changed meanwhile.
  ///
  /// *Cancellation:* encoding that has begun is waited for; what it has made is dropped.
  ///
  /// - Parameter value: What to encode.
  /// - Returns: JSON.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    let base = base
    return try exclusiveCall { try base.encode(value) }
  }
}

/// JSON as dictionaries, arrays, strings and numbers.
///
/// Each runs on a thread of the offload pool, or on the caller's outside a coroutine.
///
/// *Cancellation:* of reading data ends the wait at once. What uses objects or streams of the caller's is
/// waited for, once it has begun; they must not be used elsewhere meanwhile.
extension CoroutineNamespace where Base: JSONSerialization {
  /// Whether an object can be written as JSON; as `JSONSerialization.isValidJSONObject(_:)`.
  ///
  /// - Parameter object: The object.
  /// - Returns: True if it can.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func isValidJSONObject(_ object: Any) throws -> Bool {
    try exclusiveCall { JSONSerialization.isValidJSONObject(object) }
  }

  /// Makes an object of JSON; as `JSONSerialization.jsonObject(with:options:)`.
  ///
  /// - Parameters:
  ///   - data: JSON.
  ///   - options: How.
  /// - Returns: The object.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func jsonObject(
    with data: Data,
    options: JSONSerialization.ReadingOptions = []
  ) throws -> sending Any {
    try blockingCall { try JSONSerialization.jsonObject(with: data, options: options) }
  }

  /// Makes an object of the JSON in a stream; as `JSONSerialization.jsonObject(with:options:)`.
  ///
  /// - Parameters:
  ///   - stream: An open stream.
  ///   - options: How.
  /// - Returns: The object.
  /// - Throws: What the plain call throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func jsonObject(
    with stream: InputStream,
    options: JSONSerialization.ReadingOptions = []
  ) throws -> Any {
    try exclusiveCall { try JSONSerialization.jsonObject(with: stream, options: options) }
  }

  /// Writes an object as JSON; as `JSONSerialization.data(withJSONObject:options:)`.
  ///
  /// - Parameters:
  ///   - object: Made of dictionaries, arrays, strings, numbers and nulls.
  ///   - options: How.
  /// - Returns: JSON.
  /// - Throws: `CocoaError(.propertyListWriteInvalid)` if the object cannot be written, where the plain
  ///   call stops some programs; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func data(
    withJSONObject object: Any,
    options: JSONSerialization.WritingOptions = []
  ) throws -> Data {
    try exclusiveCall {
      try check(object, options)
      return try JSONSerialization.data(withJSONObject: object, options: options)
    }
  }

  /// Writes an object as JSON to a stream.
  ///
  /// - Parameters:
  ///   - object: Made of dictionaries, arrays, strings, numbers and nulls.
  ///   - stream: An open stream.
  ///   - options: How.
  /// - Returns: The bytes written.
  /// - Throws: As `data(withJSONObject:options:)`; what the stream reports.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func writeJSONObject(
    _ object: Any,
    to stream: OutputStream,
    options: JSONSerialization.WritingOptions = []
  ) throws -> Int {
    try exclusiveCall {
      try check(object, options)
      let data = try JSONSerialization.data(withJSONObject: object, options: options)
      return try stream.writeAll(data)
    }
  }

  private static func check(_ object: Any, _ options: JSONSerialization.WritingOptions) throws {
    let object = options.contains(.fragmentsAllowed) ? [object] : object
    guard JSONSerialization.isValidJSONObject(object) else {
      throw CocoaError(
        .propertyListWriteInvalid,
        userInfo: [NSDebugDescriptionErrorKey: "The object has parts that JSON has no form for."]
      )
    }
  }
}

extension CoroutineNamespace where Base == String {
  /// The object that this text is the JSON of; fragments are allowed.
  ///
  /// *Cancellation:* ends the wait at once.
  ///
  /// - Returns: The object.
  /// - Throws: What `JSONSerialization` throws; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func jsonObject() throws -> sending Any {
    let data = Data(base.utf8)
    return try blockingCall {
      try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    }
  }
}

extension OutputStream {
  /// Writes all of it.
  ///
  /// - Returns: How much that was.
  /// - Throws: What the stream reports; `CocoaError(.fileWriteUnknown)` if it reports nothing.
  func writeAll(_ data: Data) throws -> Int {
    var written = 0
    while written < data.count {
      let rest = data[(data.startIndex + written)...]
      let count = rest.withUnsafeBytes { bytes in
        // SAFETY: there is at least one byte, so there is an address.
        write(
          bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self),
          maxLength: bytes.count
        )
      }
      guard count > 0 else { throw streamError ?? CocoaError(.fileWriteUnknown) }
      written += count
    }
    return written
  }
}
