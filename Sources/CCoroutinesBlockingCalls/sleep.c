// SPDX-License-Identifier: Apache-2.0
//
// sleep, usleep, nanosleep, clock_nanosleep.
#include "gate.h"
#include "waiting.h"

// What is left of a sleep, 0 if it ran to its end.
//
// In code that is cancelled already it ends at once as if all of the time had passed: who is told that it
// was interrupted sleeps again, most often in a loop without end.
static int64_t sleep_for(cbc_frame_t *frame, int64_t nanoseconds) {
  if (cbc_is_cancelled()) return 0;
  int64_t start = cbc_scheduler_now();
  if (cbc_pause(frame, nanoseconds) == 0) return 0;
  int64_t left = nanoseconds - (cbc_scheduler_now() - start);
  return left > 0 ? left : 1;
}

static unsigned sleep_parking(cbc_frame_t *frame, unsigned seconds) {
  int64_t left = sleep_for(frame, cbc_nanoseconds(seconds, 0));
  cbc_end(frame, 0);
  // To the nearest second, but not to none.
  unsigned rounded = (unsigned)((left + 500000000) / 1000000000);
  return left > 0 && rounded == 0 ? 1 : rounded;
}

unsigned CBC_NAME(sleep)(unsigned seconds) {
  CBC_ROUTE(sleep, sleep_parking(&frame, seconds), seconds);
}
CBC_INTERPOSE(sleep)

static int usleep_parking(cbc_frame_t *frame, useconds_t microseconds) {
  int64_t left = sleep_for(frame, (int64_t)microseconds * 1000);
  return left > 0 ? (int)cbc_fail(frame, EINTR) : (int)cbc_end(frame, 0);
}

int CBC_NAME(usleep)(useconds_t microseconds) {
  CBC_ROUTE(usleep, usleep_parking(&frame, microseconds), microseconds);
}
CBC_INTERPOSE(usleep)

static int is_valid(const struct timespec *time) {
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static struct timespec timespec_of(int64_t nanoseconds) {
  return (struct timespec){
      .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

static int nanosleep_parking(
    cbc_frame_t *frame, const struct timespec *time, struct timespec *remaining) {
  if (!is_valid(time)) return (int)cbc_fail(frame, EINVAL);
  int64_t left = sleep_for(frame, cbc_nanoseconds(time->tv_sec, time->tv_nsec));
  if (left == 0) return (int)cbc_end(frame, 0);
  if (remaining != NULL) *remaining = timespec_of(left);
  return (int)cbc_fail(frame, EINTR);
}

int CBC_NAME(nanosleep)(const struct timespec *time, struct timespec *remaining) {
  CBC_ROUTE(nanosleep, nanosleep_parking(&frame, time, remaining), time, remaining);
}
CBC_INTERPOSE(nanosleep)

#if defined(__GLIBC__)

// Clocks that may be set while somebody waits are looked at that often.
#define LONGEST_STRETCH 1000000000

static int sleep_until(cbc_frame_t *frame, clockid_t clock, const struct timespec *time) {
  int64_t target = cbc_nanoseconds(time->tv_sec, time->tv_nsec);
  while (1) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return errno;
    int64_t left = target - cbc_nanoseconds(now.tv_sec, now.tv_nsec);
    if (left <= 0) return 0;
    if (clock == CLOCK_REALTIME && left > LONGEST_STRETCH) left = LONGEST_STRETCH;
    int64_t unslept = sleep_for(frame, left);
    if (unslept != 0) return EINTR;
    if (cbc_is_cancelled()) return 0;
  }
}

// Unlike all others it returns the error, and leaves errno alone.
static int clock_nanosleep_parking(
    cbc_frame_t *frame, clockid_t clock, int flags, const struct timespec *time,
    struct timespec *remaining) {
  int is_known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
  if (!is_known || !is_valid(time) || (flags & ~TIMER_ABSTIME) != 0) {
    return CBC_PASS(frame, REAL(clock_nanosleep)(clock, flags, time, remaining));
  }
  int result = 0;
  if (flags & TIMER_ABSTIME) {
    result = sleep_until(frame, clock, time);
  } else {
    int64_t left = sleep_for(frame, cbc_nanoseconds(time->tv_sec, time->tv_nsec));
    if (left != 0) {
      result = EINTR;
      if (remaining != NULL) *remaining = timespec_of(left);
    }
  }
  cbc_end(frame, 0);
  return result;
}

int CBC_NAME(clock_nanosleep)(
    clockid_t clock, int flags, const struct timespec *time, struct timespec *remaining) {
  CBC_ROUTE(
      clock_nanosleep, clock_nanosleep_parking(&frame, clock, flags, time, remaining), clock, flags,
      time, remaining);
}

#endif
