// SPDX-License-Identifier: Apache-2.0
//
// epoll_wait, epoll_pwait: an epoll descriptor is itself one that can be waited for.
#include "gate.h"

#if defined(__GLIBC__)

static int epoll_parking(
    cbc_frame_t *frame, int set, struct epoll_event *events, int capacity, int timeout) {
  int64_t deadline = timeout < 0 ? CBC_FOREVER : cbc_deadline_in((int64_t)timeout * 1000000);
  while (1) {
    int ready = REAL(epoll_wait)(set, events, capacity, 0);
    if (ready != 0 || timeout == 0) return (int)cbc_end(frame, ready);
    if (deadline != CBC_FOREVER && cck_clock_now() >= deadline) return (int)cbc_end(frame, 0);
    // At the deadline there is one more look.
    int error = cbc_await(frame, set, CBC_READING, deadline, 0);
    if (error != 0) return (int)cbc_fail(frame, error);
  }
}

int CBC_NAME(epoll_wait)(int set, struct epoll_event *events, int capacity, int timeout) {
  CBC_ROUTE(
      epoll_wait, epoll_parking(&frame, set, events, capacity, timeout), set, events, capacity,
      timeout);
}

// With a mask it blocks; see poll.c.
static int epoll_pwait_parking(
    cbc_frame_t *frame, int set, struct epoll_event *events, int capacity, int timeout,
    const sigset_t *mask) {
  if (mask == NULL) return epoll_parking(frame, set, events, capacity, timeout);
  return CBC_PASS(frame, REAL(epoll_pwait)(set, events, capacity, timeout, mask));
}

int CBC_NAME(epoll_pwait)(
    int set, struct epoll_event *events, int capacity, int timeout, const sigset_t *mask) {
  CBC_ROUTE(
      epoll_pwait, epoll_pwait_parking(&frame, set, events, capacity, timeout, mask), set, events,
      capacity, timeout, mask);
}

#endif
