// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Property lists in files.
///
/// What `NSArray` and `NSDictionary` do with them differs from system to system (not all throw on Linux);
/// this does the same everywhere.
enum PropertyListFile {
  /// Reads a property list whose root is of the given type.
  static func read<Root>(_ type: Root.Type, from url: URL) throws -> Root {
    try blockingCall {
      let data = try Data(contentsOf: url)
      let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
      guard let root = list as? Root else {
        throw CocoaError(.propertyListReadCorrupt, userInfo: [NSURLErrorKey: url])
      }
      return root
    }
  }

  /// Writes a property list as XML.
  static func write(_ root: Any, to url: URL, atomically: Bool) throws {
    try exclusiveCall {
      guard PropertyListSerialization.propertyList(root, isValidFor: .xml) else {
        throw CocoaError(.propertyListWriteInvalid, userInfo: [NSURLErrorKey: url])
      }
      let data = try PropertyListSerialization.data(
        fromPropertyList: root,
        format: .xml,
        options: 0
      )
      try data.write(to: url, options: atomically ? .atomic : [])
    }
  }
}
