// SPDX-License-Identifier: Apache-2.0

import CoroutinesRedis

/// Compares what was acknowledged with what was done.
struct Count {
  let channel: RemoteChannel<Job>
  let lines: [[String]]
  /// The process that was killed.
  let killed: String

  init(_ options: Options) {
    channel = .shared(options)
    lines = Ledger.lines(in: options.text("--ledgers"))
    killed = options.text("--killed")
  }

  func check() throws {
    let checks = Checks()
    // Of each job: the ids under which it was done, with how often.
    var done: [String: [String: Int]] = [:]
    var sent: Set<String> = []
    var inHand: Set<String> = []
    for line in lines {
      let job = line.dropFirst().prefix(2).joined(separator: ":")
      switch line.first {
      case "sent": sent.insert(job)
      case "begun": if line[5] == killed { inHand.insert(job) }
      case "done":
        done[job, default: [:]][line[3], default: 0] += 1
        if line[5] == killed { inHand.remove(job) }
      default: stop("a ledger holds \(line)")
      }
    }
    let lost = sent.filter { done[$0] == nil }
    let sentTwice = done.values.reduce(0) { $0 + $1.count - 1 }
    let again = done.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1 - 1 } }
    let processes = Set(lines.compactMap { $0.count > 5 ? $0[5] : nil })

    checks.expect(!sent.isEmpty, "\(sent.count) jobs were acknowledged to their senders")
    checks.expect(lost.isEmpty, "none of them is lost (\(lost.count))")
    checks.expect(
      Set(done.keys).isSubset(of: sent),
      "nothing was done that was not sent"
    )
    checks.expect(
      sentTwice == 0,
      "no job is in the stream twice, though sends were repeated (\(sentTwice))"
    )
    checks.expect(
      !inHand.isEmpty && inHand.allSatisfy { done[$0] != nil },
      "\(inHand.count) jobs were in hand in the process that was killed; others have done them"
    )
    checks.expect(processes.count > 2, "\(processes.count) processes shared the work")
    checks.expect(
      again >= 1 && again <= sent.count / 20,
      "\(again) jobs were done twice, the last of the process that died after it among them"
    )
    checks.expect(try channel.count() == 0, "the stream is empty")
    checks.expect(try channel.isClosed(), "the channel is closed, and its receivers have ended")
    checks.expect(try channel.deadLetters().isEmpty, "there are no dead letters")
    checks.finish()
  }
}
