// SPDX-License-Identifier: Apache-2.0

import CRedis
import ExampleSupport
import Glibc

extension Crowd {
  /// The same by hiredis' own asynchronous interface, on the calling thread, with callbacks and a loop around `poll`.
  func asynchronously(_ threads: ThreadCount) throws -> [Reply] {
    let state = AsynchronousCrowd(self, threads)
    let lines = try (0..<connections).map { _ in try Line(address, state) }
    for line in lines { line.beginNext() }
    while state.unfinished > 0, state.failure == nil {
      // The lines do not change their number, and one that has ended is not waited for.
      let active = lines.filter { $0.events != 0 }
      var descriptors = active.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
      guard poll(&descriptors, nfds_t(descriptors.count), 30_000) > 0 else {
        throw RedisError(description: "no answer for 30 s")
      }
      for (line, descriptor) in zip(active, descriptors) where descriptor.revents != 0 {
        line.goOn(descriptor.revents)
      }
    }
    for line in lines { line.close() }
    if let failure = state.failure { throw failure }
    return state.answers
  }
}

/// What the lines have in common.
private final class AsynchronousCrowd {
  var answers: [Reply]
  var unfinished: Int
  var next = 0
  var failure: (any Error)?
  let threads: ThreadCount

  init(_ crowd: Crowd, _ threads: ThreadCount) {
    answers = Array(repeating: .nothing, count: crowd.clients)
    unfinished = crowd.clients
    self.threads = threads
  }
}

/// A connection that is used asynchronously, with the events that hiredis waits for.
private final class Line {
  /// hiredis' callback: the context, the reply, and what was given with the command.
  private typealias Callback =
    @convention(c) (
      UnsafeMutablePointer<redisAsyncContext>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> Void

  private let raw: UnsafeMutablePointer<redisAsyncContext>
  private let crowd: AsynchronousCrowd
  private var number = 0
  private(set) var events: Int16 = 0

  init(_ address: Address, _ crowd: AsynchronousCrowd) throws {
    guard let raw = redisAsyncConnect(address.host, address.port) else {
      throw RedisError(description: "no memory")
    }
    self.raw = raw
    self.crowd = crowd
    // SAFETY: the line outlives the context, which `close` frees; hiredis calls these on this thread.
    raw.pointee.ev.data = Unmanaged.passUnretained(self).toOpaque()
    raw.pointee.ev.addRead = { Line.of($0)?.events |= Int16(POLLIN) }
    raw.pointee.ev.delRead = { Line.of($0)?.events &= ~Int16(POLLIN) }
    raw.pointee.ev.addWrite = { Line.of($0)?.events |= Int16(POLLOUT) }
    raw.pointee.ev.delWrite = { Line.of($0)?.events &= ~Int16(POLLOUT) }
    raw.pointee.ev.cleanup = { Line.of($0)?.events = 0 }
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> Line? {
    // SAFETY: only what `init` has put into the context comes here.
    pointer.map { Unmanaged<Line>.fromOpaque($0).takeUnretainedValue() }
  }

  var descriptor: Int32 { raw.pointee.c.fd }

  func goOn(_ happened: Int16) {
    let isBroken = happened & Int16(POLLERR | POLLHUP) != 0
    if isBroken || happened & Int16(POLLIN) != 0, events & Int16(POLLIN) != 0 {
      redisAsyncHandleRead(raw)
    }
    if isBroken || happened & Int16(POLLOUT) != 0, events & Int16(POLLOUT) != 0 {
      redisAsyncHandleWrite(raw)
    }
  }

  func close() {
    redisAsyncFree(raw)
  }

  func beginNext() {
    guard crowd.next < crowd.answers.count else { return }
    number = crowd.next
    crowd.next += 1
    if number.isMultiple(of: 16) { crowd.threads.note() }
    send(["SET", "key:\(number)", "value \(number)"]) { _, reply, line in
      guard reply != nil else { return Line.of(line)?.fail() ?? () }
      guard let line = Line.of(line) else { return }
      line.send(["GET", "key:\(line.number)"]) { _, reply, line in
        guard let reply else { return Line.of(line)?.fail() ?? () }
        Line.of(line)?.finish(reply.assumingMemoryBound(to: redisReply.self).pointee)
      }
    }
  }

  private func send(_ words: [String], _ callback: Callback) {
    let line = Unmanaged.passUnretained(self).toOpaque()
    let status = withWords(words) { words, lengths in
      redisAsyncCommandArgv(raw, callback, line, Int32(lengths.count), words, lengths)
    }
    if status != REDIS_OK { fail() }
  }

  private func finish(_ reply: redisReply) {
    do {
      crowd.answers[number] = try Reply(reply)
      crowd.unfinished -= 1
      beginNext()
    } catch {
      crowd.failure = error
    }
  }

  private func fail() {
    if crowd.unfinished > 0, crowd.failure == nil {
      crowd.failure = RedisError(description: "the connection was lost")
    }
  }
}
