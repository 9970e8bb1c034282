// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "poller.h"

#if !defined(SYS_epoll_pwait2)
#define SYS_epoll_pwait2 441
#endif

/// Most events of one wait.
enum { most_events = 256 };

typedef struct epoll_poller {
  cck_poller_t base;
  int set;
  int bell;
  /// Filled by the owner's waits.
  struct epoll_event events[most_events];
} epoll_poller_t;

static void epoll_free(cck_poller_t *base) {
  epoll_poller_t *poller = (epoll_poller_t *)base;
  close(poller->bell);
  close(poller->set);
  free(poller);
}

/// Any thread may wait.
static int epoll_begin(cck_poller_t *base) {
  (void)base;
  return 0;
}

static int epoll_watch(
    cck_poller_t *base, int descriptor, uint32_t interest, uint64_t token, int once) {
  epoll_poller_t *poller = (epoll_poller_t *)base;
  struct epoll_event event = {.data.u64 = token};
  // Hanging up is not told without reading: who only writes learns of errors, which are always told.
  if (interest & CCK_POLL_READ) event.events |= EPOLLIN | EPOLLRDHUP;
  if (interest & CCK_POLL_WRITE) event.events |= EPOLLOUT;
  event.events |= once ? EPOLLONESHOT : EPOLLET;
  // What is watched once is, more often than not, watched again.
  int first = once ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(poller->set, first, descriptor, &event) == 0) return 0;
  if (errno != ENOENT && errno != EEXIST) return errno;
  int second = once ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  return epoll_ctl(poller->set, second, descriptor, &event) == 0 ? 0 : errno;
}

static void epoll_unwatch(cck_poller_t *base, int descriptor) {
  struct epoll_event unused = {0};
  epoll_ctl(((epoll_poller_t *)base)->set, EPOLL_CTL_DEL, descriptor, &unused);
}

/// Without the newer call, which counts nanoseconds, the wait is a whole number of milliseconds: not less than
/// asked for.
static int wait_for(epoll_poller_t *poller, int capacity, int64_t timeout) {
  static int lacks_pwait2;
  // The system calls themselves: a program may have put something else in the place of the functions.
  if (timeout > 0 && !__atomic_load_n(&lacks_pwait2, __ATOMIC_RELAXED)) {
    struct {
      int64_t seconds, nanoseconds;
    } time = {timeout / 1000000000, timeout % 1000000000};
    long count =
        syscall(SYS_epoll_pwait2, poller->set, poller->events, capacity, &time, NULL, 0);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)count;
    __atomic_store_n(&lacks_pwait2, 1, __ATOMIC_RELAXED);
  }
  int64_t milliseconds = timeout < 0 ? -1 : (timeout + 999999) / 1000000;
  if (milliseconds > 1000000000) milliseconds = 1000000000;
#if defined(SYS_epoll_wait)
  return (int)syscall(SYS_epoll_wait, poller->set, poller->events, capacity, (int)milliseconds);
#else
  return (int)syscall(
      SYS_epoll_pwait, poller->set, poller->events, capacity, (int)milliseconds, NULL, 0);
#endif
}

static int epoll_wait_for_events(
    cck_poller_t *base, cck_poller_event_t *events, int capacity, int64_t timeout) {
  epoll_poller_t *poller = (epoll_poller_t *)base;
  int count = wait_for(poller, capacity < most_events ? capacity : most_events, timeout);
  int reported = 0;
  for (int index = 0; index < count; index++) {
    struct epoll_event event = poller->events[index];
    // The bell has no bytes to be taken out: each ring is a change.
    if (event.data.u64 == 0) continue;
    uint32_t ready = 0;
    if (event.events & (EPOLLIN | EPOLLPRI)) ready |= CCK_POLL_READ;
    if (event.events & EPOLLOUT) ready |= CCK_POLL_WRITE;
    if (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ready |= CCK_POLL_READ | CCK_POLL_HANG_UP;
    if (event.events & (EPOLLHUP | EPOLLERR)) ready |= CCK_POLL_WRITE;
    events[reported++] = (cck_poller_event_t){event.data.u64, ready};
  }
  return reported;
}

static void epoll_ring(cck_poller_t *base) {
  uint64_t one = 1;
  // SAFETY: fails only when the count is at its end, 2^64 rings from now.
  if (syscall(SYS_write, ((epoll_poller_t *)base)->bell, &one, sizeof one) < 0) return;
}

static const poller_kind_t operations = {
    CCK_POLLER_EPOLL, epoll_free,            epoll_begin, epoll_watch,
    epoll_unwatch,    epoll_wait_for_events, epoll_ring,
};

cck_poller_t *poller_make_epoll(void) {
  epoll_poller_t *poller = malloc(sizeof *poller);
  if (!poller) return NULL;
  poller->base.operations = &operations;
  poller->set = epoll_create1(EPOLL_CLOEXEC);
  poller->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event ring = {.events = EPOLLIN | EPOLLET, .data.u64 = 0};
  if (poller->set >= 0 && poller->bell >= 0 &&
      epoll_ctl(poller->set, EPOLL_CTL_ADD, poller->bell, &ring) == 0) {
    return &poller->base;
  }
  int code = errno;
  if (poller->set >= 0) close(poller->set);
  if (poller->bell >= 0) close(poller->bell);
  free(poller);
  errno = code;
  return NULL;
}
#else
typedef int poller_epoll_is_for_linux;
#endif
