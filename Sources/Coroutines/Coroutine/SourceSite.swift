// SPDX-License-Identifier: Apache-2.0

/// A place in source code: where a coroutine was launched or a promise made.
public struct SourceSite: Sendable, CustomStringConvertible {
  /// Module and file, as `#fileID` gives them.
  public let file: StaticString
  /// Line in that file.
  public let line: UInt

  /// A place.
  ///
  /// - Parameters:
  ///   - file: Module and file; where the call stands, if left out.
  ///   - line: Line in that file; where the call stands, if left out.
  @inlinable
  public init(file: StaticString = #fileID, line: UInt = #line) {
    self.file = file
    self.line = line
  }

  /// `Module/File.swift:12`.
  public var description: String { "\(file):\(line)" }
}
