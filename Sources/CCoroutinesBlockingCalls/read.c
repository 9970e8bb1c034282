// SPDX-License-Identifier: Apache-2.0
//
// read, readv: of sockets as recvmsg, of files as in file.c, of all else (pipes, terminals, event
// descriptors) without waiting where the system knows such, and else as soon as there is something.
#include "file.h"
#include "vector.h"

static ssize_t read_other(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count) {
  int is_looked_at = 0;
  while (1) {
    ssize_t result = cbc_read_now(descriptor, buffers, count, CBC_HERE);
    if (result >= 0 || (errno != EAGAIN && errno != EOPNOTSUPP)) return cbc_end(frame, result);
    int is_known = errno == EAGAIN;
    if (!is_looked_at && cbc_is_nonblocking(descriptor)) {
      return CBC_PASS(frame, REAL(readv)(descriptor, buffers, count));
    }
    is_looked_at = 1;
    // Somebody else may be quicker between the two; then this blocks, and the report says so.
    if (!is_known && cbc_is_ready(descriptor, POLLIN)) {
      return CBC_PASS(frame, REAL(readv)(descriptor, buffers, count));
    }
    int error = cbc_await(frame, descriptor, CBC_READING, CBC_FOREVER, 0);
    if (error != 0) return cbc_fail(frame, error);
  }
}

static ssize_t readv_parking(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count) {
  frame->descriptor = descriptor;
  if (count <= 0 || cbc_vector_size(buffers, (size_t)count) == 0) {
    return CBC_PASS(frame, REAL(readv)(descriptor, buffers, count));
  }
  switch (cbc_kind_of(descriptor)) {
    case CBC_FILE: return cbc_read_file(frame, descriptor, buffers, count, CBC_HERE);
    case CBC_OTHER: return read_other(frame, descriptor, buffers, count);
    case CBC_INVALID: return CBC_PASS(frame, REAL(readv)(descriptor, buffers, count));
    case CBC_SOCKET: break;
  }
  struct msghdr message = {.msg_iov = (struct iovec *)buffers, .msg_iovlen = (size_t)count};
  return cbc_receive(frame, descriptor, &message, 0);
}

static ssize_t read_parking(cbc_frame_t *frame, int descriptor, void *bytes, size_t count) {
  struct iovec buffer = {.iov_base = bytes, .iov_len = count};
  if (count == 0) return CBC_PASS(frame, REAL(read)(descriptor, bytes, count));
  return readv_parking(frame, descriptor, &buffer, 1);
}

ssize_t CBC_NAME(read)(int descriptor, void *bytes, size_t count) {
  CBC_ROUTE(read, read_parking(&frame, descriptor, bytes, count), descriptor, bytes, count);
}
CBC_INTERPOSE(read)

ssize_t CBC_NAME(readv)(int descriptor, const struct iovec *buffers, int count) {
  CBC_ROUTE(
      readv, readv_parking(&frame, descriptor, buffers, count), descriptor, buffers, count);
}
CBC_INTERPOSE(readv)

#if defined(__GLIBC__)
ssize_t CBC_NAME(__read_chk)(int descriptor, void *bytes, size_t count, size_t room) {
  // More than there is room for: libc's own ends the program.
  if (count > room) return REAL(__read_chk)(descriptor, bytes, count, room);
  CBC_ROUTE(read, read_parking(&frame, descriptor, bytes, count), descriptor, bytes, count);
}
#endif
