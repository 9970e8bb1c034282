// SPDX-License-Identifier: Apache-2.0

/// What a test notes, in order.
final class Notebook<Entry> {
  private(set) var entries: [Entry] = []
  func add(_ entry: Entry) { entries.append(entry) }
  func removeAll() { entries = [] }
}
