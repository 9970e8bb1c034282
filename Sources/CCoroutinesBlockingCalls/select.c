// SPDX-License-Identifier: Apache-2.0
//
// select, pselect: waited for as poll does, and answered by libc's own call without waiting.
#include "gate.h"

#include <string.h>

// A set as libc has it: so many words of bits, which may be more than an fd_set is large.
typedef struct bits {
  unsigned long *sets[3];
  size_t words;
} bits_t;

#define WORD (8 * sizeof(unsigned long))

static int has(const bits_t *bits, int kind, int descriptor) {
  const unsigned long *set = bits->sets[kind];
  return set != NULL && (set[(size_t)descriptor / WORD] >> ((size_t)descriptor % WORD) & 1);
}

static short events_of(const bits_t *bits, int descriptor) {
  static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
  short all = 0;
  for (int kind = 0; kind < 3; kind++) {
    if (has(bits, kind, descriptor)) all |= events[kind];
  }
  return all;
}

static nfds_t list(const bits_t *bits, int limit, struct pollfd *into) {
  nfds_t count = 0;
  for (int descriptor = 0; descriptor < limit; descriptor++) {
    short events = events_of(bits, descriptor);
    if (events == 0) continue;
    if (into != NULL) into[count] = (struct pollfd){.fd = descriptor, .events = events};
    count++;
  }
  return count;
}

static void copy(const bits_t *from, const bits_t *to) {
  for (int kind = 0; kind < 3; kind++) {
    if (from->sets[kind] == NULL) continue;
    memcpy(to->sets[kind], from->sets[kind], from->words * sizeof(unsigned long));
  }
}

// One look: what is ready is left in `given`, which stays as it was if nothing is.
static int look(int limit, const bits_t *given, const bits_t *scratch) {
  struct timeval none = {0};
  copy(given, scratch);
  fd_set *sets[3];
  for (int kind = 0; kind < 3; kind++) {
    sets[kind] = given->sets[kind] == NULL ? NULL : (fd_set *)scratch->sets[kind];
  }
  int ready = REAL(select)(limit, sets[0], sets[1], sets[2], &none);
  if (ready > 0) {
    for (int kind = 0; kind < 3; kind++) {
      if (given->sets[kind] == NULL) continue;
      memcpy(given->sets[kind], scratch->sets[kind], given->words * sizeof(unsigned long));
    }
  }
  return ready;
}

static void clear(const bits_t *bits) {
  for (int kind = 0; kind < 3; kind++) {
    if (bits->sets[kind] != NULL) memset(bits->sets[kind], 0, bits->words * sizeof(unsigned long));
  }
}

static int select_until(cbc_frame_t *frame, int limit, const bits_t *given, int64_t deadline) {
  bits_t scratch = {.words = given->words};
  nfds_t count = list(given, limit, NULL);
  unsigned long *memory = calloc(3 * given->words + 1, sizeof(unsigned long));
  struct pollfd *descriptors = calloc(count + 1, sizeof(struct pollfd));
  int result = -1;
  int error = 0;
  if (memory == NULL || descriptors == NULL) {
    error = ENOMEM;
  } else {
    for (int kind = 0; kind < 3; kind++) scratch.sets[kind] = memory + kind * (long)given->words;
    list(given, limit, descriptors);
  }
  while (error == 0) {
    result = look(limit, given, &scratch);
    if (result < 0) error = errno;
    if (result != 0) break;
    if (deadline != CBC_FOREVER && cck_clock_now() >= deadline) {
      clear(given);
      break;
    }
    int closed;
    error = cbc_await_any(frame, descriptors, count, deadline, &closed);
    if (error == 0 && closed >= 0) error = EBADF;
  }
  free(memory);
  free(descriptors);
  return (int)(error == 0 ? cbc_end(frame, result) : cbc_fail(frame, error));
}

static bits_t bits_of(int limit, fd_set *reading, fd_set *writing, fd_set *exceptions) {
  return (bits_t){
      .sets = {(unsigned long *)reading, (unsigned long *)writing, (unsigned long *)exceptions},
      .words = ((size_t)limit + WORD - 1) / WORD};
}

static int select_parking(
    cbc_frame_t *frame, int limit, fd_set *reading, fd_set *writing, fd_set *exceptions,
    struct timeval *timeout) {
  int is_valid = limit >= 0 && (timeout == NULL || (timeout->tv_sec >= 0 && timeout->tv_usec >= 0));
  int64_t time = timeout == NULL || !is_valid
                     ? CBC_FOREVER
                     : cbc_nanoseconds(timeout->tv_sec, (int64_t)timeout->tv_usec * 1000);
  if (!is_valid || time == 0) {
    return CBC_PASS(frame, REAL(select)(limit, reading, writing, exceptions, timeout));
  }
  int64_t deadline = time == CBC_FOREVER ? CBC_FOREVER : cbc_deadline_in(time);
  bits_t given = bits_of(limit, reading, writing, exceptions);
  int result = select_until(frame, limit, &given, deadline);
#if defined(__GLIBC__)
  // As Linux does: what is left of the time.
  if (timeout != NULL) {
    int64_t left = deadline == CBC_FOREVER ? time : deadline - cck_clock_now();
    if (left < 0) left = 0;
    timeout->tv_sec = left / 1000000000;
    timeout->tv_usec = (suseconds_t)(left % 1000000000 / 1000);
  }
#endif
  return result;
}

int CBC_NAME(select)(
    int limit, fd_set *reading, fd_set *writing, fd_set *exceptions, struct timeval *timeout) {
  CBC_ROUTE(
      select, select_parking(&frame, limit, reading, writing, exceptions, timeout), limit, reading,
      writing, exceptions, timeout);
}
CBC_INTERPOSE(select)

// With a mask it blocks; see poll.c.
static int pselect_parking(
    cbc_frame_t *frame, int limit, fd_set *reading, fd_set *writing, fd_set *exceptions,
    const struct timespec *timeout, const sigset_t *mask) {
  int is_valid = limit >= 0 && (timeout == NULL || (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 &&
                                                    timeout->tv_nsec < 1000000000));
  int64_t time =
      timeout == NULL || !is_valid ? CBC_FOREVER : cbc_nanoseconds(timeout->tv_sec, timeout->tv_nsec);
  if (mask != NULL || !is_valid || time == 0) {
    return CBC_PASS(frame, REAL(pselect)(limit, reading, writing, exceptions, timeout, mask));
  }
  int64_t deadline = time == CBC_FOREVER ? CBC_FOREVER : cbc_deadline_in(time);
  bits_t given = bits_of(limit, reading, writing, exceptions);
  return select_until(frame, limit, &given, deadline);
}

int CBC_NAME(pselect)(
    int limit, fd_set *reading, fd_set *writing, fd_set *exceptions, const struct timespec *timeout,
    const sigset_t *mask) {
  CBC_ROUTE(
      pselect, pselect_parking(&frame, limit, reading, writing, exceptions, timeout, mask), limit,
      reading, writing, exceptions, timeout, mask);
}
CBC_INTERPOSE(pselect)
