// SPDX-License-Identifier: Apache-2.0

/// A place in source code: where a coroutine was launched or a promise made.
///
/// Two words, because each coroutine has one.
public struct SourceSite: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: the pointer leads to a constant of the program.

  /// Module and file, in UTF-8.
  @usableFromInline let start: UnsafePointer<UInt8>
  /// The length, and above it the line: one word, because it is stored at each launch.
  @usableFromInline let numbers: UInt64

  /// A place.
  ///
  /// - Parameters:
  ///   - file: Module and file; where the call stands, if left out.
  ///   - line: Line in that file; where the call stands, if left out.
  @inlinable
  public init(file: StaticString = #fileID, line: UInt = #line) {
    let file = file.hasPointerRepresentation ? file : "a file with a name of one character"
    start = file.utf8Start
    let length = UInt32(truncatingIfNeeded: file.utf8CodeUnitCount)
    numbers = UInt64(length) | UInt64(UInt32(truncatingIfNeeded: line)) << 32
  }

  /// Module and file, as `#fileID` gives them.
  public var file: StaticString {
    // SAFETY: a `StaticString` is frozen: address, length, and flags that are all 0 where the address is one and
    // the text may be more than ASCII (SourceSiteTests).
    unsafeBitCast((start, UInt(length), UInt8(0)), to: StaticString.self)
  }

  var length: UInt32 { UInt32(truncatingIfNeeded: numbers) }

  var shortLine: UInt32 { UInt32(truncatingIfNeeded: numbers >> 32) }

  /// Line in that file.
  public var line: UInt { UInt(shortLine) }

  /// `Module/File.swift:12`.
  public var description: String { "\(file):\(line)" }
}
