// SPDX-License-Identifier: Apache-2.0
//
// recv, recvfrom, recvmsg, send, sendto, sendmsg: tried with MSG_DONTWAIT first, so that a socket's flags
// stay as they are and a call that need not wait costs nothing more.
#include "vector.h"

#include <string.h>

static int is_stream(int descriptor) {
  int type = 0;
  socklen_t length = sizeof(type);
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static int would_block(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

// What a call returns that comes to its end by an error: what it has done, if anything.
static ssize_t end_early(cbc_frame_t *frame, size_t done, int error) {
  return done > 0 ? cbc_end(frame, (long)done) : cbc_fail(frame, error);
}

// Parks after an attempt that would block. 0 to try again, or the error to end with.
static int await_socket(
    cbc_frame_t *frame, int descriptor, cbc_direction_t direction, int64_t *deadline) {
  if (*deadline == 0) {
    if (cbc_is_nonblocking(descriptor)) return EAGAIN;
    *deadline = cbc_socket_deadline(descriptor, direction);
  }
  return cbc_await(frame, descriptor, direction, *deadline, EAGAIN);
}

// MARK: - Receiving

static ssize_t receive_all(
    cbc_frame_t *frame, int descriptor, struct msghdr *message, int flags, cbc_vector_t *rest) {
  struct msghdr given = *message;
  int64_t deadline = 0;
  size_t done = 0;
  while (1) {
    struct msghdr attempt = given;
    if (rest != NULL) {
      attempt.msg_iov = rest->first;
      attempt.msg_iovlen = rest->count;
    }
    ssize_t count = REAL(recvmsg)(descriptor, &attempt, flags | MSG_DONTWAIT);
    if (count >= 0) {
      message->msg_namelen = attempt.msg_namelen;
      message->msg_controllen = attempt.msg_controllen;
      message->msg_flags = attempt.msg_flags;
      done += (size_t)count;
      if (count == 0 || rest == NULL || !cbc_vector_advance(rest, (size_t)count)) {
        return cbc_end(frame, (long)done);
      }
      frame->fruitless = 0;
      continue;
    }
    if (!would_block(count)) return end_early(frame, done, errno);
    int error = await_socket(frame, descriptor, CBC_READING, &deadline);
    if (error != 0) return end_early(frame, done, error);
  }
}

ssize_t cbc_receive(cbc_frame_t *frame, int descriptor, struct msghdr *message, int flags) {
  frame->descriptor = descriptor;
  if (flags & MSG_DONTWAIT) return CBC_PASS(frame, REAL(recvmsg)(descriptor, message, flags));
  int fills = (flags & MSG_WAITALL) && !(flags & MSG_PEEK) && is_stream(descriptor);
  if (!fills) return receive_all(frame, descriptor, message, flags, NULL);
  cbc_vector_t rest;
  if (cbc_vector_make(&rest, message->msg_iov, message->msg_iovlen) != 0) {
    return cbc_fail(frame, ENOMEM);
  }
  ssize_t result = receive_all(frame, descriptor, message, flags, &rest);
  int error = errno;
  cbc_vector_free(&rest);
  errno = error;
  return result;
}

static ssize_t recv_parking(
    cbc_frame_t *frame, int descriptor, void *bytes, size_t count, int flags) {
  struct iovec buffer = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &buffer, .msg_iovlen = 1};
  return cbc_receive(frame, descriptor, &message, flags);
}

ssize_t CBC_NAME(recv)(int descriptor, void *bytes, size_t count, int flags) {
  CBC_ROUTE(
      recv, recv_parking(&frame, descriptor, bytes, count, flags), descriptor, bytes, count, flags);
}
CBC_INTERPOSE(recv)

#if defined(__GLIBC__)
#define ADDRESS __SOCKADDR_ARG
#define CONST_ADDRESS __CONST_SOCKADDR_ARG
#define POINTER(address) ((void *)(address).__sockaddr__)
#else
#define ADDRESS struct sockaddr *
#define CONST_ADDRESS const struct sockaddr *
#define POINTER(address) ((void *)(address))
#endif

static ssize_t recvfrom_parking(
    cbc_frame_t *frame, int descriptor, void *bytes, size_t count, int flags, void *address,
    socklen_t *length) {
  struct iovec buffer = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &buffer, .msg_iovlen = 1};
  if (address != NULL && length != NULL) {
    message.msg_name = address;
    message.msg_namelen = *length;
  }
  ssize_t result = cbc_receive(frame, descriptor, &message, flags);
  if (result >= 0 && message.msg_name != NULL) *length = message.msg_namelen;
  return result;
}

ssize_t CBC_NAME(recvfrom)(
    int descriptor, void *bytes, size_t count, int flags, ADDRESS address, socklen_t *length) {
  CBC_ROUTE(
      recvfrom, recvfrom_parking(&frame, descriptor, bytes, count, flags, POINTER(address), length),
      descriptor, bytes, count, flags, address, length);
}
CBC_INTERPOSE(recvfrom)

ssize_t CBC_NAME(recvmsg)(int descriptor, struct msghdr *message, int flags) {
  CBC_ROUTE(
      recvmsg, cbc_receive(&frame, descriptor, message, flags), descriptor, message, flags);
}
CBC_INTERPOSE(recvmsg)

// MARK: - Sending

static ssize_t send_all(
    cbc_frame_t *frame, int descriptor, const struct msghdr *message, int flags,
    cbc_vector_t *rest) {
  struct msghdr attempt = *message;
  int64_t deadline = 0;
  size_t done = 0;
  while (1) {
    attempt.msg_iov = rest->first;
    attempt.msg_iovlen = rest->count;
    ssize_t count = REAL(sendmsg)(descriptor, &attempt, flags | MSG_DONTWAIT);
    if (count >= 0) {
      done += (size_t)count;
      if (!cbc_vector_advance(rest, (size_t)count)) return cbc_end(frame, (long)done);
      if (cbc_vector_size(rest->first, rest->count) == 0) return cbc_end(frame, (long)done);
      // What goes with the bytes has gone with the first of them.
      attempt.msg_control = NULL;
      attempt.msg_controllen = 0;
      frame->fruitless = 0;
      continue;
    }
    if (!would_block(count)) return end_early(frame, done, errno);
    int error = await_socket(frame, descriptor, CBC_WRITING, &deadline);
    if (error != 0) return end_early(frame, done, error);
  }
}

ssize_t cbc_send(cbc_frame_t *frame, int descriptor, const struct msghdr *message, int flags) {
  frame->descriptor = descriptor;
  if (flags & MSG_DONTWAIT) return CBC_PASS(frame, REAL(sendmsg)(descriptor, message, flags));
  cbc_vector_t rest;
  if (cbc_vector_make(&rest, message->msg_iov, message->msg_iovlen) != 0) {
    return cbc_fail(frame, ENOMEM);
  }
  ssize_t result = send_all(frame, descriptor, message, flags, &rest);
  int error = errno;
  cbc_vector_free(&rest);
  errno = error;
  return result;
}

static ssize_t sendto_parking(
    cbc_frame_t *frame, int descriptor, const void *bytes, size_t count, int flags, void *address,
    socklen_t length) {
  struct iovec buffer = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &buffer, .msg_iovlen = 1, .msg_name = address, .msg_namelen = length};
  return cbc_send(frame, descriptor, &message, flags);
}

ssize_t CBC_NAME(send)(int descriptor, const void *bytes, size_t count, int flags) {
  CBC_ROUTE(
      send, sendto_parking(&frame, descriptor, bytes, count, flags, NULL, 0), descriptor, bytes,
      count, flags);
}
CBC_INTERPOSE(send)

ssize_t CBC_NAME(sendto)(
    int descriptor, const void *bytes, size_t count, int flags, CONST_ADDRESS address,
    socklen_t length) {
  CBC_ROUTE(
      sendto, sendto_parking(&frame, descriptor, bytes, count, flags, POINTER(address), length),
      descriptor, bytes, count, flags, address, length);
}
CBC_INTERPOSE(sendto)

ssize_t CBC_NAME(sendmsg)(int descriptor, const struct msghdr *message, int flags) {
  CBC_ROUTE(sendmsg, cbc_send(&frame, descriptor, message, flags), descriptor, message, flags);
}
CBC_INTERPOSE(sendmsg)

#if defined(__GLIBC__)

// MARK: - Several messages

static int recvmmsg_parking(
    cbc_frame_t *frame, int descriptor, struct mmsghdr *messages, unsigned count, int flags,
    struct timespec *timeout) {
  frame->descriptor = descriptor;
  if (flags & MSG_DONTWAIT) {
    return CBC_PASS(frame, REAL(recvmmsg)(descriptor, messages, count, flags, timeout));
  }
  int64_t limit = timeout == NULL
                      ? CBC_FOREVER
                      : cbc_deadline_in(cbc_nanoseconds(timeout->tv_sec, timeout->tv_nsec));
  int64_t deadline = 0;
  unsigned done = 0;
  while (1) {
    int found = REAL(recvmmsg)(
        descriptor, messages + done, count - done, (flags & ~MSG_WAITFORONE) | MSG_DONTWAIT, NULL);
    if (found > 0) done += (unsigned)found;
    if (found >= 0 && (done == count || (flags & MSG_WAITFORONE))) {
      return (int)cbc_end(frame, (long)done);
    }
    if (found < 0 && !would_block(found)) return (int)end_early(frame, done, errno);
    if (deadline == 0) {
      if (cbc_is_nonblocking(descriptor)) return (int)end_early(frame, done, EAGAIN);
      deadline = cbc_socket_deadline(descriptor, CBC_READING);
      if (limit < deadline) deadline = limit;
    }
    int error = cbc_await(frame, descriptor, CBC_READING, deadline, EAGAIN);
    if (error != 0) return (int)end_early(frame, done, error);
  }
}

int CBC_NAME(recvmmsg)(
    int descriptor, struct mmsghdr *messages, unsigned count, int flags,
    struct timespec *timeout) {
  CBC_ROUTE(
      recvmmsg, recvmmsg_parking(&frame, descriptor, messages, count, flags, timeout), descriptor,
      messages, count, flags, timeout);
}

static int sendmmsg_parking(
    cbc_frame_t *frame, int descriptor, struct mmsghdr *messages, unsigned count, int flags) {
  frame->descriptor = descriptor;
  if (flags & MSG_DONTWAIT) {
    return CBC_PASS(frame, REAL(sendmmsg)(descriptor, messages, count, flags));
  }
  int64_t deadline = 0;
  unsigned done = 0;
  while (1) {
    int sent = REAL(sendmmsg)(descriptor, messages + done, count - done, flags | MSG_DONTWAIT);
    if (sent > 0) done += (unsigned)sent;
    if (sent >= 0 && done == count) return (int)cbc_end(frame, (long)done);
    if (sent < 0 && !would_block(sent)) return (int)end_early(frame, done, errno);
    int error = await_socket(frame, descriptor, CBC_WRITING, &deadline);
    if (error != 0) return (int)end_early(frame, done, error);
  }
}

int CBC_NAME(sendmmsg)(int descriptor, struct mmsghdr *messages, unsigned count, int flags) {
  CBC_ROUTE(
      sendmmsg, sendmmsg_parking(&frame, descriptor, messages, count, flags), descriptor, messages,
      count, flags);
}

// MARK: - With checks

ssize_t CBC_NAME(__recv_chk)(int descriptor, void *bytes, size_t count, size_t room, int flags) {
  // More than there is room for: libc's own ends the program.
  if (count > room) return REAL(__recv_chk)(descriptor, bytes, count, room, flags);
  CBC_ROUTE(
      recv, recv_parking(&frame, descriptor, bytes, count, flags), descriptor, bytes, count, flags);
}

ssize_t CBC_NAME(__recvfrom_chk)(
    int descriptor, void *bytes, size_t count, size_t room, int flags, ADDRESS address,
    socklen_t *length) {
  if (count > room) {
    return REAL(__recvfrom_chk)(descriptor, bytes, count, room, flags, address, length);
  }
  CBC_ROUTE(
      recvfrom, recvfrom_parking(&frame, descriptor, bytes, count, flags, POINTER(address), length),
      descriptor, bytes, count, flags, address, length);
}

#endif
