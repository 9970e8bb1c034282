// SPDX-License-Identifier: Apache-2.0

/// What a scheduler is called, as text only when somebody wants to read it: each `runBlocking` has one.
package enum SchedulerName: Sendable {
  case text(String)
  case runBlocking(SourceSite)

  var text: String {
    switch self {
    case .text(let text): text
    case .runBlocking(let site): "runBlocking at \(site)"
    }
  }
}
