// SPDX-License-Identifier: Apache-2.0

package import CoroutinesIO

/// A request, as a handler gets it.
package struct HTTPRequest {
  /// Everything but the body.
  package let head: HTTPRequestHead
  /// The body, while it comes.
  package let body: HTTPRequestBody
  /// Who sent it.
  package let peer: SocketAddress?

  /// In capital letters: "GET".
  package var method: String { head.method }
  /// The header fields.
  package var headers: HTTPHeaders { head.headers }
}
