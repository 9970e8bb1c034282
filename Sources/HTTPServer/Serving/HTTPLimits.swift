// SPDX-License-Identifier: Apache-2.0

/// What a client may ask of a server: without limits anybody could fill its memory or keep it waiting.
package struct HTTPLimits: Sendable {
  /// Connections that are served at a time; further ones wait with the system.
  package var connections = 1024
  /// Bytes of a request's first line, without its end; longer ones get 414.
  package var requestLine = 8 << 10
  /// Bytes of all header fields, or of a chunked body's trailer, with the ends of lines; more get 431.
  package var headerBytes = 32 << 10
  /// Header fields, or fields of a trailer; more get 431.
  package var headerFields = 100
  /// Bytes of a request's body; more get 413.
  package var bodyBytes = 16 << 20
  /// Bytes of a body that the handler has not read which are read and dropped, so that the connection can be used
  /// again; for more it is closed.
  package var drainedBytes = 64 << 10

  /// How long the first byte of a further request may take; then the connection is closed.
  package var keepAlive = Duration.seconds(30)
  /// How long a request's first line and header fields may take, from the first byte on; then it gets 408.
  package var head = Duration.seconds(10)
  /// How long a body, or a client that is to take an answer, may stand still; for a request's body that is 408.
  package var standstill = Duration.seconds(20)
  /// Bytes a second that must move, of either body, once it has been waited for longer than `standstill`.
  package var bytesPerSecond = 256
  /// How long a client may take to see why it was refused, before its connection is closed.
  package var farewell = Duration.seconds(1)

  /// Limits for everyday use.
  package init() {}
}
