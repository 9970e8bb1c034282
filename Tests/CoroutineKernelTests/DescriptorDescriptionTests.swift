// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Foundation
import Testing

/// What dumps say of a descriptor.
@Suite struct DescriptorDescriptionTests {
  private func describe(_ descriptor: Int32) -> String {
    var text = [CChar](repeating: 1, count: 256)
    let length = cck_descriptor_describe(descriptor, &text, text.count)
    #expect(text[length] == 0)
    return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  #if os(Linux)
  private static let stream = Int32(SOCK_STREAM.rawValue)
  private static let datagram = Int32(SOCK_DGRAM.rawValue)
  #else
  private static let stream = SOCK_STREAM
  private static let datagram = SOCK_DGRAM
  #endif

  /// A socket that is bound to a free port of 127.0.0.1, and the port.
  private func bound(_ type: Int32) throws -> (socket: Int32, port: UInt16, address: sockaddr_in) {
    let socket = socket(AF_INET, type, 0)
    try #require(socket >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        #expect(bind(socket, $0, length) == 0)
        #expect(getsockname(socket, $0, &length) == 0)
      }
    }
    return (socket, UInt16(bigEndian: address.sin_port), address)
  }

  @Test func `sockets of the network are told by their ends`() throws {
    var listener = try bound(Self.stream)
    #expect(listen(listener.socket, 1) == 0)
    #expect(describe(listener.socket) == "TCP 127.0.0.1:\(listener.port), listening")
    let client = socket(AF_INET, Self.stream, 0)
    let status = withUnsafeMutablePointer(to: &listener.address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(status == 0)
    #expect(describe(client).hasPrefix("TCP 127.0.0.1:"))
    #expect(describe(client).hasSuffix(" to 127.0.0.1:\(listener.port)"))
    let datagrams = try bound(Self.datagram)
    #expect(describe(datagrams.socket) == "UDP 127.0.0.1:\(datagrams.port)")
    for socket in [listener.socket, client, datagrams.socket] { close(socket) }
  }

  @Test func `others are told by their kind, and files by their path`() throws {
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Self.stream, 0, &pair) == 0)
    #expect(describe(pair[0]) == "Unix socket")
    let pipe = Pipe()
    #expect(describe(pipe.fileHandleForReading.fileDescriptor) == "pipe")
    let null = open("/dev/null", O_RDONLY)
    #if os(Linux)
    #expect(describe(null) == "/dev/null")
    #else
    #expect(describe(null) == "device")
    #endif
    for descriptor in pair + [null] { close(descriptor) }
    #expect(describe(-1) == "closed")
  }
}
