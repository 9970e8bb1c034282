// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Foundation
import Testing

/// Plays a sample on the main queue; for processes of their own, whose main thread serves it.
func checkOnMainQueue(_ sample: Scenario) async {
  let steps = await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: sample.steps(on: .main)) }
  }
  #expect(steps == sample.expected, "\(sample.name): \(steps)")
}
