// SPDX-License-Identifier: Apache-2.0

import CoroutinesIO
import Testing

/// Addresses as texts and back.
@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:80"), ("0.0.0.0", "0.0.0.0:80"), ("255.1.2.3", "255.1.2.3:80"),
    ("::1", "[::1]:80"), ("::", "[::]:80"), ("2001:db8::1:0:0:1", "[2001:db8::1:0:0:1]:80"),
    ("2001:0db8:0:1:1:1:1:1", "[2001:db8:0:1:1:1:1:1]:80"), ("fe80::", "[fe80::]:80"),
    ("1:2:3:4:5:6:7:8", "[1:2:3:4:5:6:7:8]:80"), ("1:0:0:2::3", "[1:0:0:2::3]:80"),
  ])
  func `digits are read, and written as RFC 5952 wants them`(_ digits: String, _ text: String)
    throws
  {
    let address = try #require(SocketAddress(digits, port: 80))
    #expect(address.description == text)
    #expect(address.port == 80)
  }

  @Test(arguments: ["localhost", "1.2.3", "1.2.3.256", ":::", "12345::", ""])
  func `what is no address is none`(_ text: String) {
    #expect(SocketAddress(text, port: 1) == nil)
  }

  @Test func `an address goes to the system and comes back`() throws {
    for address: SocketAddress in [
      .loopback(port: 1), .loopback6(port: 65535), .any(port: 0), .ipv4(0x0102_0304, port: 5),
      .ipv6(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10, port: 7, scope: 3),
      .unix(path: "/tmp/x"), .unix(path: String(repeating: "p", count: 107)),
    ] {
      #expect(SocketAddress(try address.systemAddress()) == address)
    }
  }
}
