// SPDX-License-Identifier: Apache-2.0
//
// poll, ppoll.
#include "gate.h"

#include <string.h>

static int mark_closed(struct pollfd *descriptors, nfds_t count, int closed) {
  int marked = 0;
  for (nfds_t index = 0; index < count; index++) {
    descriptors[index].revents = descriptors[index].fd == closed ? POLLNVAL : 0;
    marked += descriptors[index].fd == closed;
  }
  return marked;
}

static int poll_until(
    cbc_frame_t *frame, struct pollfd *descriptors, nfds_t count, int64_t deadline) {
  while (1) {
    int ready = REAL(poll)(descriptors, count, 0);
    if (ready != 0) return (int)cbc_end(frame, ready);
    if (deadline != CBC_FOREVER && cck_clock_now() >= deadline) return (int)cbc_end(frame, 0);
    int closed;
    int error = cbc_await_any(frame, descriptors, count, deadline, &closed);
    if (error != 0) return (int)cbc_fail(frame, error);
    if (closed >= 0) return (int)cbc_end(frame, mark_closed(descriptors, count, closed));
  }
}

static int poll_parking(
    cbc_frame_t *frame, struct pollfd *descriptors, nfds_t count, int timeout) {
  if (timeout == 0) return CBC_PASS(frame, REAL(poll)(descriptors, count, 0));
  int64_t deadline = timeout < 0 ? CBC_FOREVER : cbc_deadline_in((int64_t)timeout * 1000000);
  return poll_until(frame, descriptors, count, deadline);
}

int CBC_NAME(poll)(struct pollfd *descriptors, nfds_t count, int timeout) {
  CBC_ROUTE(
      poll, poll_parking(&frame, descriptors, count, timeout), descriptors, count, timeout);
}
CBC_INTERPOSE(poll)

#if defined(__GLIBC__)

int CBC_NAME(__poll_chk)(
    struct pollfd *descriptors, nfds_t count, int timeout, size_t room) {
  // Not as many as it says: libc's own ends the program.
  if (room / sizeof(*descriptors) < count) {
    return REAL(__poll_chk)(descriptors, count, timeout, room);
  }
  CBC_ROUTE(
      poll, poll_parking(&frame, descriptors, count, timeout), descriptors, count, timeout);
}

// Another mask of signals for the time of the wait cannot be had on a thread that others use meanwhile:
// such a call blocks, as it would without us.
static int ppoll_parking(
    cbc_frame_t *frame, struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
    const sigset_t *mask) {
  int is_valid = timeout == NULL || (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 &&
                                     timeout->tv_nsec < 1000000000);
  int64_t time =
      timeout == NULL || !is_valid ? CBC_FOREVER : cbc_nanoseconds(timeout->tv_sec, timeout->tv_nsec);
  if (mask != NULL || !is_valid || time == 0) {
    return CBC_PASS(frame, REAL(ppoll)(descriptors, count, timeout, mask));
  }
  int64_t deadline = time == CBC_FOREVER ? CBC_FOREVER : cbc_deadline_in(time);
  return poll_until(frame, descriptors, count, deadline);
}

int CBC_NAME(ppoll)(
    struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
    const sigset_t *mask) {
  CBC_ROUTE(
      ppoll, ppoll_parking(&frame, descriptors, count, timeout, mask), descriptors, count, timeout,
      mask);
}

int CBC_NAME(__ppoll_chk)(
    struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
    size_t room) {
  if (room / sizeof(*descriptors) < count) {
    return REAL(__ppoll_chk)(descriptors, count, timeout, mask, room);
  }
  CBC_ROUTE(
      ppoll, ppoll_parking(&frame, descriptors, count, timeout, mask), descriptors, count, timeout,
      mask);
}

#endif
