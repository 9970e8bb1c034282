// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

extension BlockingCallsTests {
  /// Libraries as the system brings them, and servers for them, all on one thread: if one call of theirs
  /// kept the thread, nobody would answer it.
  @Suite struct LibraryTests {
    private static let clients = 20

    /// Serves each connection by a coroutine, for as many as there are clients.
    private func serve(
      _ serve: @escaping (Int32) -> Void,
      to client: @escaping (Int32) -> Int32
    ) throws -> [Int32] {
      try parking {
        var port: Int32 = 0
        let listener = cbl_listen(&port)
        let server = launch {
          for _ in 0..<Self.clients {
            let connection = cbl_accept(listener)
            launch {
              serve(connection)
              _ = cbl_close(connection)
            }
          }
        }
        let clients = (0..<Self.clients).map { [port] _ in launch { client(port) } }
        let results = try clients.map { try $0.value() }
        try server.join()
        _ = cbl_close(listener)
        return results
      }
    }

    @Test(.enabled(if: cbl_has_library("libhiredis.so") != 0))
    func `hiredis pings a server on its own thread`() throws {
      BlockingCalls.resetReport()
      let answers = try serve { connection in
        while let question = readText(connection, 256), !question.isEmpty {
          writeText(connection, "+PONG\r\n")
        }
      } to: { port in
        cbl_hiredis_ping(port, 10)
      }
      #expect(answers == Array(repeating: 10, count: Self.clients))
      let site = BlockingCalls.report().first {
        $0.library?.contains("hiredis") == true && $0.parked > 0
      }
      #expect(site != nil)
    }

    @Test(.enabled(if: cbl_has_library("libpq.so.5") != 0))
    func `libpq asks a server on its own thread`() throws {
      BlockingCalls.resetReport()
      let answers = try serve { connection in
        // Its introduction; then: welcome, ready for commands.
        _ = readText(connection, 1024)
        writeText(connection, "R\0\0\0\u{8}\0\0\0\0Z\0\0\0\u{5}I")
        while let question = readText(connection, 1024), question.hasPrefix("Q") {
          writeText(connection, "C\0\0\0\u{B}LISTEN\0Z\0\0\0\u{5}I")
        }
      } to: { port in
        cbl_libpq_queries(port, 10)
      }
      #expect(answers == Array(repeating: 10, count: Self.clients))
      let site = BlockingCalls.report().first {
        $0.call == "poll" && $0.library?.contains("libpq") == true && $0.parked > 0
      }
      #expect(site != nil)
    }

    @Test(.enabled(if: cbl_has_library("libcurl.so.4") != 0))
    func `libcurl gets something from a server on its own thread`() throws {
      let sizes = try serve { connection in
        _ = readText(connection, 4096)
        writeText(
          connection,
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        )
      } to: { port in
        cbl_libcurl_get(port)
      }
      #expect(sizes == Array(repeating: 5, count: Self.clients))
    }
  }
}
