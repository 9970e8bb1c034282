// SPDX-License-Identifier: Apache-2.0
//
// accept, accept4, connect. They know no MSG_DONTWAIT, so the socket is made non-blocking for the moment of
// the call itself: never while a coroutine is parked, and under a lock that our own looks at the flags take.
// Other processes and threads that use the same socket in that moment may find it so.
#include "gate.h"

#if defined(__GLIBC__)
#define ADDRESS __SOCKADDR_ARG
#define CONST_ADDRESS __CONST_SOCKADDR_ARG
#else
#define ADDRESS struct sockaddr *
#define CONST_ADDRESS const struct sockaddr *
#endif

// MARK: - accept

// Takes a connection if there is one. EAGAIN for none; `asked` if it is the user who does not want to wait.
static int accept_now(
    int listener, ADDRESS address, socklen_t *length, int flags, int *asked) {
  cbc_lock_flags();
  int before = fcntl(listener, F_GETFL);
  *asked = before < 0 || (before & O_NONBLOCK) != 0;
  if (!*asked) fcntl(listener, F_SETFL, before | O_NONBLOCK);
#if defined(__GLIBC__)
  int connection = REAL(accept4)(listener, address, length, flags);
#else
  (void)flags;
  int connection = REAL(accept)(listener, address, length);
  // There it has got the listener's flags.
  if (connection >= 0 && !*asked) fcntl(connection, F_SETFL, before);
#endif
  int error = errno;
  if (!*asked) fcntl(listener, F_SETFL, before);
  cbc_unlock_flags();
  errno = error;
  return connection;
}

static int accept_parking(
    cbc_frame_t *frame, int listener, ADDRESS address, socklen_t *length, int flags) {
  frame->descriptor = listener;
  int64_t deadline = 0;
  while (1) {
    // Not touched as long as there is nothing to take.
    if (deadline == 0 || cbc_is_ready(listener, POLLIN)) {
      int asked;
      int connection = accept_now(listener, address, length, flags, &asked);
      if (connection >= 0 || asked || (errno != EAGAIN && errno != EWOULDBLOCK)) {
        return (int)cbc_end(frame, connection);
      }
    }
    if (deadline == 0) deadline = cbc_socket_deadline(listener, CBC_READING);
    int error = cbc_await(frame, listener, CBC_READING, deadline, EAGAIN);
    if (error != 0) return (int)cbc_fail(frame, error);
  }
}

int CBC_NAME(accept)(int listener, ADDRESS address, socklen_t *length) {
  CBC_ROUTE(
      accept, accept_parking(&frame, listener, address, length, 0), listener, address, length);
}
CBC_INTERPOSE(accept)

#if defined(__GLIBC__)
int CBC_NAME(accept4)(int listener, ADDRESS address, socklen_t *length, int flags) {
  CBC_ROUTE(
      accept4, accept_parking(&frame, listener, address, length, flags), listener, address, length,
      flags);
}
#endif

// MARK: - connect

static int connect_now(int socket, CONST_ADDRESS address, socklen_t length, int *asked) {
  cbc_lock_flags();
  int before = fcntl(socket, F_GETFL);
  *asked = before < 0 || (before & O_NONBLOCK) != 0;
  if (!*asked) fcntl(socket, F_SETFL, before | O_NONBLOCK);
  int result = REAL(connect)(socket, address, length);
  int error = errno;
  if (!*asked) fcntl(socket, F_SETFL, before);
  cbc_unlock_flags();
  errno = error;
  return result;
}

// A connection is on its way: the socket can be written to once it is there, or has failed.
static int await_connection(cbc_frame_t *frame, int socket, int64_t deadline) {
  while (!cbc_is_ready(socket, POLLOUT)) {
    int error = cbc_await(frame, socket, CBC_WRITING, deadline, EINPROGRESS);
    if (error != 0) return (int)cbc_fail(frame, error);
  }
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  return (int)(error == 0 ? cbc_end(frame, 0) : cbc_fail(frame, error));
}

static int connect_parking(
    cbc_frame_t *frame, int socket, CONST_ADDRESS address, socklen_t length) {
  frame->descriptor = socket;
  int64_t deadline = cbc_socket_deadline(socket, CBC_WRITING);
  int64_t step = 0;
  while (1) {
    int asked;
    int result = connect_now(socket, address, length, &asked);
    if (result == 0 || asked) return (int)cbc_end(frame, result);
    if (errno == EINPROGRESS) return await_connection(frame, socket, deadline);
    // A local socket whose listener's queue is full. Nothing tells when it no longer is.
    if (errno != EAGAIN) return (int)cbc_end(frame, result);
    if (cck_clock_now() >= deadline) return (int)cbc_fail(frame, EAGAIN);
    int error = cbc_back_off(frame, &step);
    if (error != 0) return (int)cbc_fail(frame, error);
  }
}

int CBC_NAME(connect)(int socket, CONST_ADDRESS address, socklen_t length) {
  CBC_ROUTE(connect, connect_parking(&frame, socket, address, length), socket, address, length);
}
CBC_INTERPOSE(connect)
