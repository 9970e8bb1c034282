// SPDX-License-Identifier: Apache-2.0

import CTLS
import Coroutines
import CoroutinesBlockingCalls
import ExampleSupport
import Glibc

/// OpenSSL's synchronous calls on sockets that block, server and clients on one thread.
@main
struct TLSEcho {
  static let usage = """
    usage: tls-echo [--check] [--clients N] [--messages N]

    A server and a crowd of clients that speak TLS with each other through OpenSSL's synchronous calls, all on one
    thread; a handshake that stalls, ended by withTimeout. Checks all results.
    """

  static func main() { Checks.run(limit: 120, run) }

  private static func run(_ checks: Checks) throws {
    let options = Options(usage: usage, names: ["--clients", "--messages"])
    let clients = options.number("--clients", full: 500, check: 100)
    let messages = options.number("--messages", full: 50, check: 20)
    // OpenSSL writes with `write`.
    signal(SIGPIPE, SIG_IGN)
    // The line that matters: from here on OpenSSL's waits park the coroutine that called it.
    BlockingCalls.enable()
    checks.expectCovered("libcrypto")

    let (serverContext, clientContext) = try TLSContext.makePair()
    let threads = ThreadCount()
    let watch = LoopWatch()
    print("\(clients) clients, \(messages) messages each, and the server, on one thread")
    try measure("coroutines, synchronous calls", threads) {
      let answers = try runBlocking {
        try watch.run {
          let (listener, port) = try Sockets.listen()
          let server = launch { try serve(listener, clients, serverContext) }
          let crowd = (0..<clients).map { number in
            launch { try talk(port, clientContext, number, messages) }
          }
          let answers = try crowd.map { try $0.value() }
          threads.note()
          try server.value()
          close(listener)
          return answers
        }
      }
      checks.expect(
        answers == Array(repeating: messages, count: clients),
        "\(clients * messages) answers, each to its question"
      )
    }
    checks.expect(threads.ofWorkers == 1, "one thread did it")
    watch.check(checks)
    try runBlocking { try stall(clientContext, checks) }
    try runBlocking { try mistrust(serverContext, checks) }
    printWhatBlocked()
  }

  private static func serve(_ listener: Int32, _ count: Int, _ context: TLSContext) throws {
    try withCoroutineScope { scope in
      for _ in 0..<count {
        let socket = accept(listener, nil, nil)
        if socket < 0 { throw TLSError(operation: "accept", kind: 0, code: errno) }
        scope.launch {
          let connection = try TLSConnection(context, socket: socket)
          try connection.accept()
          while case let bytes = try connection.read(upTo: 4096), !bytes.isEmpty {
            try connection.write(bytes)
          }
          connection.finish()
        }
      }
    }
  }

  /// How many answers were right.
  private static func talk(
    _ port: UInt16,
    _ context: TLSContext,
    _ number: Int,
    _ messages: Int
  ) throws -> Int {
    let connection = try TLSConnection(context, socket: Sockets.connect(port: port))
    try connection.connect(to: "localhost")
    var right = 0
    for message in 0..<messages {
      let question = Array("client \(number), message \(message)".utf8)
      try connection.write(question)
      var answer: [UInt8] = []
      while answer.count < question.count,
        case let more = try connection.read(upTo: 4096), !more.isEmpty
      { answer += more }
      if answer == question { right += 1 }
    }
    connection.finish()
    return right
  }

  /// A server that takes the connection and says nothing.
  private static func stall(_ context: TLSContext, _ checks: Checks) throws {
    let (listener, port) = try Sockets.listen()
    defer { close(listener) }
    do {
      try withTimeout(.milliseconds(200)) {
        let connection = try TLSConnection(context, socket: Sockets.connect(port: port))
        try connection.connect(to: "localhost")
      }
      checks.expect(false, "withTimeout ends a handshake that stalls")
    } catch {
      checks.expect(error is TimeoutError, "withTimeout ended a handshake that stalls: \(error)")
    }
  }

  /// A client that trusts nobody refuses the server.
  private static func mistrust(_ context: TLSContext, _ checks: Checks) throws {
    let (listener, port) = try Sockets.listen()
    defer { close(listener) }
    let other = try TLSContext.makePair().client
    let server = launch {
      let connection = try TLSConnection(context, socket: accept(listener, nil, nil))
      try connection.accept()
    }
    do {
      let connection = try TLSConnection(other, socket: Sockets.connect(port: port))
      try connection.connect(to: "localhost")
      checks.expect(false, "a client refuses a certificate that it does not trust")
    } catch let error as TLSError {
      checks.expect(error.kind == SSL_ERROR_SSL, "a client refused another certificate: \(error)")
    }
    do {
      try server.value()
      checks.expect(false, "the server hears of the refusal")
    } catch {
      checks.expect(error is TLSError, "the server heard of it: \(error)")
    }
  }
}
