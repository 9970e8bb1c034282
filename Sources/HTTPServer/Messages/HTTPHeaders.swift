// SPDX-License-Identifier: Apache-2.0

/// The header fields of a message, in their order; names are told apart without regard to case.
package struct HTTPHeaders: Sendable, Hashable {
  /// A name and its value, as they were written.
  package struct Field: Sendable, Hashable {
    /// The name: a token of RFC 9110 §5.6.2.
    package var name: String
    /// The value, without white space around it.
    package var value: String

    /// A field.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields.
  package private(set) var fields: [Field]

  /// Some fields.
  package init(_ fields: [Field] = []) { self.fields = fields }

  /// The value of the first field of this name; setting it replaces all of them, nil removes them.
  package subscript(name: String) -> String? {
    get { fields.first { Self.areSame($0.name, name) }?.value }
    set {
      fields.removeAll { Self.areSame($0.name, name) }
      if let newValue { fields.append(Field(name, newValue)) }
    }
  }

  /// Adds a field beside those of the same name.
  package mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }

  /// The values of all fields of this name.
  package func values(of name: String) -> [String] {
    fields.filter { Self.areSame($0.name, name) }.map(\.value)
  }

  /// The elements of a comma-separated list that may be spread over several fields, in lower case.
  package func list(_ name: String) -> [String] {
    values(of: name).flatMap { value in
      value.split(separator: ",", omittingEmptySubsequences: false).map {
        String(decoding: HTTPGrammar.trimmed(Array($0.utf8)[...]), as: UTF8.self).lowercased()
      }
    }
  }

  private static func areSame(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count
      && zip(one.utf8, other.utf8).allSatisfy {
        HTTPGrammar.lowercase($0) == HTTPGrammar.lowercase($1)
      }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Fields in the order in which they are written.
  package init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0, $1) }
  }
}
