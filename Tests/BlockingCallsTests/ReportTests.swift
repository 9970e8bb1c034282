// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

extension BlockingCallsTests {
  @Suite struct ReportTests {
    @Test func `the report says per call site what parked and what passed`() throws {
      BlockingCalls.resetReport()
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        writeText(pair.second, "xy")
        var byte: UInt8 = 0
        _ = cbl_recv(pair.first, &byte, 1, 0)
        _ = cbl_recv(pair.first, &byte, 1, 0)
        let reader = launch { () -> Int in
          var byte: UInt8 = 0
          return cbl_recv(pair.first, &byte, 1, 0)
        }
        try Coroutine.yield()
        writeText(pair.second, "z")
        try reader.join()
      }
      pair.close()
      let sites = BlockingCalls.report().filter { $0.call == "recv" }
      #expect(sites.count == 1)
      let site = try #require(sites.first)
      #expect((site.parked, site.passed, site.offloaded, site.blocked) == (1, 2, 0, 0))
      #expect(site.library != nil)
      #expect(site.description.hasPrefix("recv in "))
      #expect(site.description.hasSuffix(": parked 1, passed through 2"))
    }

    @Test func `what blocks the loop is told, with how long`() throws {
      BlockingCalls.resetReport()
      let own = Pair.pipe()
      // A mask of signals cannot be had for a parked wait, so this one blocks.
      try parking { () throws -> Void in
        #expect(cbl_poll_masked(own.first, 4) == 0)
      }
      let site = try #require(BlockingCalls.report().first)
      #expect(site.call == "ppoll")
      #expect(site.blocked == 1)
      #expect(site.longestBlock >= .milliseconds(4))
      #expect(site.description.contains("blocked the loop 1 times, for up to "))
      own.close()
    }

    @Test func `the counts begin anew`() throws {
      try parking { _ = cbl_usleep(10) }
      BlockingCalls.resetReport()
      #expect(BlockingCalls.report().isEmpty)
    }
  }

  @Suite struct CoverageTests {
    /// Loads a library, and forgets to unload it.
    private func load(_ name: String) -> Bool { dlopen(name, RTLD_NOW) != nil }

    @Test(arguments: ["libpq.so.5", "libhiredis.so", "libcurl.so.4", "libsqlite3.so.0"])
    func `a library that is loaded is told about`(_ name: String) throws {
      // Not on every machine.
      guard load(name) else { return }
      let coverage = try #require(BlockingCalls.coverage(of: name))
      #expect(coverage.path.contains(name.prefix { $0 != "." }))
      #expect(!coverage.covered.isEmpty, "\(coverage)")
      #expect(coverage.boundElsewhere.isEmpty, "\(coverage)")
      #expect(coverage.isCovered)
      if name.hasPrefix("libpq") {
        #expect(Set(coverage.covered).isSuperset(of: ["poll", "recv", "send", "connect"]))
        #expect(coverage.notTakenOver.contains("fgets"))
      }
    }

    @Test func `libc's own calls cannot be seen`() throws {
      let coverage = try #require(BlockingCalls.coverage(of: "libc.so.6"))
      #expect(!coverage.isCovered)
      #expect(coverage.definedInside.contains("read"))
      #expect(coverage.description.contains("cannot be seen"))
    }

    @Test func `Foundation is covered`() throws {
      guard load("libFoundation.so") else { return }
      let coverage = try #require(BlockingCalls.coverage(of: "libFoundation"))
      #expect(Set(coverage.covered).isSuperset(of: ["read", "write", "select", "waitpid"]))
    }

    @Test func `what is not loaded is not known`() {
      #expect(BlockingCalls.coverage(of: "libnowhere.so") == nil)
      #expect(BlockingCalls.coverage(of: "") == nil)
    }
  }
}
