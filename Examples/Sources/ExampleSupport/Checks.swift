// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a program claims, and whether it is so.
public final class Checks {
  private var wrong = 0
  private var right = 0

  /// Runs a program: its claims are printed as they are made, and in the end the process exits with status 1 if one
  /// was wrong or an error came up.
  ///
  /// - Parameters:
  ///   - limit: The seconds after which the system ends the process: a program that hangs is one that fails.
  ///   - program: The program.
  public static func run(limit: Int, _ program: (Checks) throws -> Void) -> Never {
    _ = alarm(UInt32(limit))
    let checks = Checks()
    do {
      try program(checks)
    } catch {
      checks.expect(false, "no error comes up: \(error)")
    }
    checks.finish()
  }

  /// Claims something.
  ///
  /// - Parameters:
  ///   - holds: Whether it is so.
  ///   - claim: The claim, as a sentence.
  public func expect(_ holds: Bool, _ claim: String) {
    if holds { right += 1 } else { wrong += 1 }
    print(holds ? "  right: \(claim)" : "  WRONG: \(claim)")
    // Should it hang after this, one sees where, also in a pipe.
    fflush(nil)
  }

  private func finish() -> Never {
    print(wrong == 0 ? "all \(right) claims hold" : "\(wrong) of \(wrong + right) claims are wrong")
    exit(wrong == 0 ? 0 : 1)
  }
}
