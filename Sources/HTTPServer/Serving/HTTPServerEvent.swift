// SPDX-License-Identifier: Apache-2.0

package import CoroutinesIO

/// What a server tells whoever keeps its log.
package enum HTTPServerEvent {
  /// A request has been answered in full, with this status and so many bytes of body.
  case answered(HTTPRequestHead, status: Int, bytes: Int)
  /// A request was malformed, too large or too slow, and its connection is closed.
  case refused(HTTPRefusal, peer: SocketAddress?)
  /// A handler has thrown; the client got 500, or, if the answer had begun, a reset connection.
  case handlerFailed(HTTPRequestHead, any Error)
  /// A connection broke while a request was answered.
  case brokenOff(any Error, peer: SocketAddress?)
}
