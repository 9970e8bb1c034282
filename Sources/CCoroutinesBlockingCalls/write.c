// SPDX-License-Identifier: Apache-2.0
//
// write, writev, pwrite, pwritev: to sockets as sendmsg, to files as libc does (into memory, as a rule), to
// all else in as many steps as it takes.
#include "file.h"
#include "vector.h"

#include <limits.h>

// A pipe that is ready takes so many bytes without waiting.
static ssize_t write_step(int descriptor, const cbc_vector_t *rest) {
  size_t count = rest->first->iov_len < PIPE_BUF ? rest->first->iov_len : PIPE_BUF;
  // All of a small write goes at once, be it of several buffers.
  if (rest->count > 1 && cbc_vector_size(rest->first, rest->count) <= PIPE_BUF) {
    return REAL(writev)(descriptor, rest->first, (int)rest->count);
  }
  return REAL(write)(descriptor, rest->first->iov_base, count);
}

static ssize_t write_rest(cbc_frame_t *frame, int descriptor, cbc_vector_t *rest) {
  ssize_t done = 0;
  int is_looked_at = 0;
  while (1) {
    ssize_t result = cbc_write_now(descriptor, rest->first, (int)rest->count);
    if (result < 0 && errno == EOPNOTSUPP) {
      if (!is_looked_at && cbc_is_nonblocking(descriptor)) {
        return CBC_PASS(frame, REAL(writev)(descriptor, rest->first, (int)rest->count));
      }
      is_looked_at = 1;
      errno = EAGAIN;
      if (cbc_is_ready(descriptor, POLLOUT)) {
        int64_t since = cbc_enter_libc();
        result = write_step(descriptor, rest);
        cbc_leave_libc(frame, since);
      } else {
        errno = EAGAIN;
      }
    }
    if (result >= 0) {
      done += result;
      if (!cbc_vector_advance(rest, (size_t)result)) return cbc_end(frame, done);
      frame->fruitless = 0;
      continue;
    }
    int error = errno;
    if (error == EAGAIN) {
      if (!is_looked_at && cbc_is_nonblocking(descriptor)) {
        return done > 0 ? cbc_end(frame, done) : cbc_fail(frame, EAGAIN);
      }
      is_looked_at = 1;
      error = cbc_await(frame, descriptor, CBC_WRITING, CBC_FOREVER, 0);
    }
    if (error != 0) return done > 0 ? cbc_end(frame, done) : cbc_fail(frame, error);
  }
}

static ssize_t write_other(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count) {
  cbc_vector_t rest;
  if (cbc_vector_make(&rest, buffers, (size_t)count) != 0) return cbc_fail(frame, ENOMEM);
  ssize_t result = write_rest(frame, descriptor, &rest);
  int error = errno;
  cbc_vector_free(&rest);
  errno = error;
  return result;
}

static ssize_t writev_parking(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count) {
  frame->descriptor = descriptor;
  if (count <= 0 || cbc_vector_size(buffers, (size_t)count) == 0) {
    return CBC_PASS(frame, REAL(writev)(descriptor, buffers, count));
  }
  switch (cbc_kind_of(descriptor)) {
    case CBC_FILE:
    case CBC_INVALID: return CBC_PASS(frame, REAL(writev)(descriptor, buffers, count));
    case CBC_OTHER: return write_other(frame, descriptor, buffers, count);
    case CBC_SOCKET: break;
  }
  struct msghdr message = {.msg_iov = (struct iovec *)buffers, .msg_iovlen = (size_t)count};
  return cbc_send(frame, descriptor, &message, 0);
}

static ssize_t write_parking(
    cbc_frame_t *frame, int descriptor, const void *bytes, size_t count) {
  struct iovec buffer = {.iov_base = (void *)bytes, .iov_len = count};
  if (count == 0) return CBC_PASS(frame, REAL(write)(descriptor, bytes, count));
  return writev_parking(frame, descriptor, &buffer, 1);
}

ssize_t CBC_NAME(write)(int descriptor, const void *bytes, size_t count) {
  CBC_ROUTE(write, write_parking(&frame, descriptor, bytes, count), descriptor, bytes, count);
}
CBC_INTERPOSE(write)

ssize_t CBC_NAME(writev)(int descriptor, const struct iovec *buffers, int count) {
  CBC_ROUTE(
      writev, writev_parking(&frame, descriptor, buffers, count), descriptor, buffers, count);
}
CBC_INTERPOSE(writev)

// MARK: - At an offset: files only

ssize_t CBC_NAME(pwrite)(int descriptor, const void *bytes, size_t count, off_t offset) {
  CBC_ROUTE(
      pwrite, CBC_PASS(&frame, REAL(pwrite)(descriptor, bytes, count, offset)), descriptor, bytes,
      count, offset);
}
CBC_INTERPOSE(pwrite)

ssize_t CBC_NAME(pwritev)(int descriptor, const struct iovec *buffers, int count, off_t offset) {
  CBC_ROUTE(
      pwritev, CBC_PASS(&frame, REAL(pwritev)(descriptor, buffers, count, offset)), descriptor,
      buffers, count, offset);
}
CBC_INTERPOSE(pwritev)

#if defined(__GLIBC__)

ssize_t CBC_NAME(pwrite64)(int descriptor, const void *bytes, size_t count, off64_t offset) {
  CBC_ROUTE(
      pwrite, CBC_PASS(&frame, REAL(pwrite)(descriptor, bytes, count, offset)), descriptor, bytes,
      count, offset);
}

ssize_t CBC_NAME(pwritev64)(
    int descriptor, const struct iovec *buffers, int count, off64_t offset) {
  CBC_ROUTE(
      pwritev, CBC_PASS(&frame, REAL(pwritev)(descriptor, buffers, count, offset)), descriptor,
      buffers, count, offset);
}

#endif
