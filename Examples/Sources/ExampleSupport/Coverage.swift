// SPDX-License-Identifier: Apache-2.0

import CoroutinesBlockingCalls

extension Checks {
  /// Claims that the blocking calls of a library park coroutines.
  ///
  /// - Parameter library: The beginning of the name of its file.
  public func expectCovered(_ library: String) {
    guard let coverage = BlockingCalls.coverage(of: library) else {
      return expect(false, "\(library) is loaded")
    }
    expect(
      coverage.isCovered,
      "parking covers \(library): \(coverage.covered.joined(separator: " "))"
    )
  }
}

/// Prints which calls have kept the loop's thread for a millisecond or more.
///
/// No claim: on a busy machine any call may.
public func printWhatBlocked() {
  for site in BlockingCalls.report() where site.blocked > 0 { print("  \(site)") }
}
