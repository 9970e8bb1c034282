// SPDX-License-Identifier: Apache-2.0

package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, and the means to answer it: what an `HTTPTestBehaviour` is given.
///
/// All methods block the connection's thread, and throw `HTTPTestClientGone` if the client has closed.
package struct HTTPTestExchange {
  /// The request.
  package let request: HTTPTestRequest
  private let connection: HTTPTestConnection

  init(_ request: HTTPTestRequest, _ connection: HTTPTestConnection) {
    self.request = request
    self.connection = connection
  }

  /// Sends a whole answer.
  package func respond(
    _ status: Int,
    headers: [String: String] = [:],
    body: Data = Data()
  ) throws {
    try sendHead(status, headers: headers.merging(["Content-Length": "\(body.count)"]) { $1 })
    if request.method != "HEAD" { try send(body) }
  }

  /// Sends the first line and the header fields.
  package func sendHead(_ status: Int, headers: [String: String]) throws {
    var head = "HTTP/1.1 \(status) \(HTTPURLResponse.localizedString(forStatusCode: status))\r\n"
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
    try send(Data((head + "\r\n").utf8))
  }

  /// Sends bytes as they are.
  package func send(_ bytes: Data) throws { try connection.send(bytes) }

  /// Sends one chunk of a body whose head says `Transfer-Encoding: chunked`; an empty one ends it.
  package func sendChunk(_ bytes: Data) throws {
    try send(Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n".utf8))
  }

  /// Waits until the test lets this through.
  package func wait(at gate: HTTPTestGate) throws {
    try gate.pass(unless: { connection.clientIsGone })
  }

  /// Waits until the client closes; then throws `HTTPTestClientGone`.
  package func waitForClientToGo() throws {
    try wait(at: HTTPTestGate())
  }

  /// Closes the connection when the behaviour returns.
  package func closeConnection() { connection.isUsable = false }

  /// Closes the connection with a reset when the behaviour returns.
  package func resetConnection() {
    Sockets.resetOnClose(connection.socket)
    connection.isUsable = false
  }
}
