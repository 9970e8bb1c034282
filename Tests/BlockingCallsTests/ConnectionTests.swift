// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

extension BlockingCallsTests {
  @Suite struct ConnectionTests {
    @Test func `clients and servers of one thread connect, talk and part`() throws {
      try parking { () throws -> Void in
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        #expect(listener >= 0)
        let server = launch {
          for _ in 0..<20 {
            let connection = cbl_accept(listener)
            #expect(connection >= 0)
            launch {
              #expect(cbl_echo(connection) > 0)
              _ = cbl_close(connection)
            }
          }
        }
        let clients = (0..<20).map { [port] _ in
          launch { () -> Int32 in
            let connection = cbl_connect(port)
            #expect(connection >= 0)
            defer { _ = cbl_close(connection) }
            return cbl_talk(connection, 20)
          }
        }
        for client in clients { #expect(try client.value() == 20) }
        try server.join()
        #expect(cbl_is_nonblocking(listener) == 0)
        _ = cbl_close(listener)
      }
    }

    @Test func `two coroutines accept at one listener, and each connection goes to one`() throws {
      try parking { () throws -> Void in
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        let servers = (0..<2).map { _ in launch { cbl_accept(listener) } }
        try Coroutine.yield()
        let first = cbl_connect(port)
        // The other one waits on.
        while !servers.contains(where: { $0.isFinished }) { try Coroutine.yield() }
        for _ in 0..<10 { try Coroutine.yield() }
        #expect(servers.filter { $0.isFinished }.count == 1)
        let second = cbl_connect(port)
        let accepted = try servers.map { try $0.value() }
        #expect(Set(accepted).count == 2 && accepted.allSatisfy { $0 >= 0 })
        for descriptor in [first, second, listener] + accepted { _ = cbl_close(descriptor) }
      }
    }

    @Test func `coroutines of several threads accept at one listener`() throws {
      BlockingCalls.enable()
      defer { BlockingCalls.disable() }
      var port: Int32 = 0
      let listener = cbl_listen(&port)
      let pool = PoolScheduler(threads: 3)
      try runBlocking { () throws -> Void in
        let servers = (0..<4).map { _ in
          launch(on: pool) { () -> Int in
            var served = 0
            while true {
              let connection = cbl_accept(listener)
              if connection < 0 { return connection == -ECANCELED ? served : -1 }
              served += 1
              // Cancelled while it waits for the end of the last one, perhaps.
              let echoed = cbl_echo(connection)
              #expect(echoed > 0 || echoed == Int(-ECANCELED))
              _ = cbl_close(connection)
            }
          }
        }
        let clients = (0..<40).map { [port] _ in
          launch(on: pool) { () -> Int32 in
            let connection = cbl_connect(port)
            defer { _ = cbl_close(connection) }
            return cbl_talk(connection, 10)
          }
        }
        for client in clients { #expect(try client.value() == 10) }
        for server in servers { server.cancel() }
        let served = try servers.map { try $0.value() }
        #expect(served.allSatisfy { $0 >= 0 } && served.reduce(0, +) == 40)
      }
      #expect(cbl_is_nonblocking(listener) == 0)
      _ = cbl_close(listener)
    }

    @Test func `accept ends by its time, by closing and by cancelling`() throws {
      try parking { () throws -> Void in
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        #expect(cbl_set_timeouts(listener, 3) == 0)
        #expect(cbl_accept(listener) == -EAGAIN)
        #expect(cbl_set_timeouts(listener, 0) == 0)
        let cancelled = launch { cbl_accept(listener) }
        try Coroutine.yield()
        cancelled.cancel()
        #expect(try cancelled.value() == -ECANCELED)
        let closed = launch { cbl_accept(listener) }
        try Coroutine.yield()
        _ = cbl_close(listener)
        #expect(try closed.value() == -EBADF)
      }
    }

    @Test func `a listener that the user made non-blocking is asked at once`() throws {
      try parking { () throws -> Void in
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        _ = cbl_set_nonblocking(listener, 1)
        #expect(cbl_accept(listener) == -EAGAIN)
        #expect(cbl_is_nonblocking(listener) == 1)
        _ = cbl_close(listener)
      }
    }

    @Test func `a refused connection is an error, and the socket's flags are as before`() throws {
      try parking { () throws -> Void in
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        _ = cbl_close(listener)
        #expect(cbl_connect(port) == -ECONNREFUSED)
      }
    }

    @Test func `names are looked up on another thread`() throws {
      BlockingCalls.resetReport()
      try parking { () throws -> Void in
        #expect(cbl_resolve("127.0.0.1") == 1)
        #expect(cbl_resolve("no name at all") == -1000)
        let cancelled = launch { () -> Int32 in
          Coroutine.current?.cancel()
          return cbl_resolve("127.0.0.1")
        }
        #expect(try cancelled.value() == -ECANCELED)
      }
      #expect(total("getaddrinfo").offloaded == 2)
    }
  }
}
