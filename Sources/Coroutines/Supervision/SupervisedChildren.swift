// SPDX-License-Identifier: Apache-2.0

/// A supervisor's children, in the order in which they were added.
///
/// A child that comes or goes takes the same time however many there are: one that goes leaves its place empty, and the
/// places move together once more of them are empty than not.
///
/// Invariant: a child is at `places[child.place]`, or its `place` is nil.
struct SupervisedChildren {
  private var places: [SupervisedChild?] = []
  private var count = 0

  mutating func append(_ child: SupervisedChild) {
    child.place = places.count
    places.append(child)
    count += 1
  }

  /// Takes a child out, if it is there.
  mutating func remove(_ child: SupervisedChild) {
    guard let place = child.place else { return }
    child.place = nil
    places[place] = nil
    count -= 1
    if count < places.count / 2 { moveTogether() }
  }

  /// Takes all of them out.
  mutating func removeAll() -> [SupervisedChild] {
    let removed = all
    for child in removed { child.place = nil }
    self = SupervisedChildren()
    return removed
  }

  /// All of them.
  var all: [SupervisedChild] { places.compactMap { $0 } }

  /// A child, and all that were added after it; none if it is not there.
  func from(_ child: SupervisedChild) -> [SupervisedChild] {
    child.place.map { places[$0...].compactMap { $0 } } ?? []
  }

  private mutating func moveTogether() {
    places.removeAll { $0 == nil }
    for (place, child) in places.enumerated() { child?.place = place }
  }
}
