// SPDX-License-Identifier: Apache-2.0

import CHiredis
import Coroutines
import CoroutinesRedis
import Glibc

extension Features {
  /// The server stands still when a value comes, until its sender has given the answer up and sends again.
  static func lostAnswer(_ place: Place, _ checks: Checks) throws {
    var settings = RedisServer.Settings()
    settings.commandTimeout = .milliseconds(500)
    settings.connections = 1
    let channel = place.channel(on: .ofEnvironment(settings))
    try channel.send(1)
    let server = serverProcess()
    kill(server, SIGSTOP)
    let sending = launch { try channel.send(2) }
    try Coroutine.sleep(for: .milliseconds(1500))
    kill(server, SIGCONT)
    try sending.value()
    checks.expect(try channel.count() == 2, "a value that is sent again is there once")

    settings.retryTime = .milliseconds(100)
    let impatient = place.channel(on: .ofEnvironment(settings))
    try impatient.send(3)
    kill(server, SIGSTOP)
    do {
      defer { kill(server, SIGCONT) }
      try impatient.send(4)
      checks.expect(false, "a send without an answer fails")
    } catch let error as RedisError {
      checks.expect(
        error.kind == .connectionLost && error.isOutcomeUnknown,
        "one that gives up says that it does not know: \(error)"
      )
    }
  }

  static func mailbox(_ place: Place, _ checks: Checks) throws {
    struct Refused: Error {}
    var options = RemoteChannelOptions()
    options.redeliverAfter = .milliseconds(400)
    let mailbox = RemoteMailbox<Int, String>(place.name, on: place.server, options: options)
    var (handled, most, now) = ([Int](), 0, 0)
    let serving = launch {
      try mailbox.serve { number in
        now += 1
        defer { now -= 1 }
        most = max(most, now)
        try Coroutine.sleep(for: .milliseconds(1))
        guard number >= 0 else { throw Refused() }
        handled.append(number)
        return "<\(number)>"
      }
    }
    let asking = (1...20).map { number in
      launch { try mailbox.ask(number, timeout: .seconds(10)) }
    }
    let answers = try asking.map { try $0.value() }
    checks.expect(answers == (1...20).map { "<\($0)>" }, "each question gets its answer")
    checks.expect(most == 1, "one message at a time (rule 11)")
    checks.expect(
      throwing(RemoteMailboxError.self) { try mailbox.ask(-1, timeout: .seconds(5)) },
      "an error goes to the one who asked"
    )
    try mailbox.tell(21)
    try mailbox.close()
    try serving.value()
    checks.expect(handled.contains(21), "what was told before the end is handled")
    checks.expect(
      throwing(ChannelError.self) { try mailbox.ask(22, timeout: .seconds(5)) },
      "a closed mailbox takes nothing"
    )
    try mailbox.remove()
    checks.expect(
      throwing(TimeoutError.self) { try mailbox.ask(23, timeout: .milliseconds(100)) },
      "a question that nobody answers ends in time"
    )
    let failing = launch { try mailbox.serve { _ in throw Refused() } }
    // The question is answered with an error; the message that nobody waits for ends the serving.
    try mailbox.tell(24)
    checks.expect(
      throwing(Refused.self) { try failing.value() },
      "an error that nobody waits for comes out of the serving (rule 6)"
    )
    checks.expect(try mailbox.count() == 1, "and its message is kept for another")
  }

  /// The process that serves.
  private static func serverProcess() -> pid_t {
    let plain = Plain()
    guard let info = plain.text(["INFO", "server"]),
      let line = info.split(whereSeparator: \.isNewline)
        .first(where: { $0.hasPrefix("process_id:") }),
      let process = pid_t(line.dropFirst("process_id:".count))
    else { stop("the server does not say which process it is") }
    return process
  }
}
