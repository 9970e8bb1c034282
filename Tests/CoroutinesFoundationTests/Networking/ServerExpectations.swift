// SPDX-License-Identifier: Apache-2.0

import Coroutines
import HTTPTestServer
import Testing

/// Parks until the server's counts are as wanted.
func expect(
  _ server: HTTPTestServer,
  reaches condition: @escaping @Sendable (HTTPTestServer.Counts) -> Bool,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let isMet = try offload { server.wait(until: condition) }
  #expect(isMet, "\(server.counts)", sourceLocation: sourceLocation)
}

/// Parks until so many answers have come to the gate.
func expectArrivals(
  _ count: Int,
  at gate: HTTPTestGate,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let haveCome = try offload { gate.waitForArrivals(count) }
  #expect(haveCome, sourceLocation: sourceLocation)
}
