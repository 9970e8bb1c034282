// SPDX-License-Identifier: Apache-2.0
#include "gate.h"

#include <pthread.h>
#include <string.h>

#include "waiting.h"

// Descriptors with the same lowest bits share a counter: too high a count costs a look at the reactor.
#define COUNTERS 1024
static int32_t waits[COUNTERS];

// A child of vfork shares our memory, and closes descriptors of its own.
static pid_t owner;

// A call that waits for several descriptors waits for a set of them, made for the time.
typedef struct poll_set {
  struct poll_set *next;
  const struct pollfd *descriptors;
  nfds_t count;
  int set;
  int closed;  ///< One of them that has been closed, or -1.
} poll_set_t;

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static poll_set_t *sets;

void cbc_note_wait(int descriptor, int change) {
  if (descriptor < 0) return;
  if (__atomic_load_n(&owner, __ATOMIC_RELAXED) == 0) {
    __atomic_store_n(&owner, getpid(), __ATOMIC_RELAXED);
  }
  __atomic_add_fetch(&waits[descriptor % COUNTERS], change, __ATOMIC_SEQ_CST);
}

void cbc_forget_waits(void) {
  memset(waits, 0, sizeof(waits));
  sets = NULL;
  owner = 0;
}

void cbc_lock_all(void) {
  cbc_lock_flags();
  pthread_mutex_lock(&sets_lock);
}

void cbc_unlock_all(void) {
  pthread_mutex_unlock(&sets_lock);
  cbc_unlock_flags();
}

static void wake_sets(int descriptor) {
  pthread_mutex_lock(&sets_lock);
  for (poll_set_t *set = sets; set != NULL; set = set->next) {
    for (nfds_t index = 0; index < set->count; index++) {
      if (set->descriptors[index].fd != descriptor) continue;
      set->closed = descriptor;
      // Under the lock: whoever waits takes its set out under it before the set's number is free again.
      cbc_wake_waiters(set->set);
      break;
    }
  }
  pthread_mutex_unlock(&sets_lock);
}

void cbc_closing(int descriptor) {
  if (descriptor < 0) return;
  if (__atomic_load_n(&waits[descriptor % COUNTERS], __ATOMIC_SEQ_CST) <= 0) return;
  if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != getpid()) return;
  int error = errno;
  cbc_wake_waiters(descriptor);
  wake_sets(descriptor);
  errno = error;
}

// MARK: - Several at once

static short without_errors(short events) {
  return events & (short)~(POLLERR | POLLHUP | POLLNVAL);
}

// The one descriptor that is waited for in one direction only, if that is all.
static const struct pollfd *single(
    const struct pollfd *descriptors, nfds_t count, cbc_direction_t *direction) {
  const struct pollfd *found = NULL;
  for (nfds_t index = 0; index < count; index++) {
    if (descriptors[index].fd < 0) continue;
    if (found != NULL) return NULL;
    found = &descriptors[index];
  }
  if (found == NULL) return NULL;
  short events = without_errors(found->events);
  if (events == 0) return NULL;
  if ((events & ~(POLLIN | POLLRDNORM)) == 0) {
    *direction = CBC_READING;
    return found;
  }
  if ((events & ~(POLLOUT | POLLWRNORM)) == 0) {
    *direction = CBC_WRITING;
    return found;
  }
  return NULL;
}

#if defined(__GLIBC__)

// The events of poll and of epoll are the same bits. A descriptor may be there more than once.
static uint32_t events_of(const struct pollfd *descriptors, nfds_t count, int descriptor) {
  uint32_t events = 0;
  for (nfds_t index = 0; index < count; index++) {
    if (descriptors[index].fd == descriptor) events |= (unsigned short)descriptors[index].events;
  }
  return events;
}

static int make_set(const struct pollfd *descriptors, nfds_t count) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) return -1;
  for (nfds_t index = 0; index < count; index++) {
    int descriptor = descriptors[index].fd;
    if (descriptor < 0) continue;
    struct epoll_event event = {.events = (unsigned short)descriptors[index].events};
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0) continue;
    if (errno == EEXIST) {
      event.events = events_of(descriptors, count, descriptor);
      epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event);
    } else if (errno == ENOMEM || errno == ENOSPC) {
      REAL(close)(set);
      return -1;
    }
    // Whatever else is wrong with it (closed, a file) poll tells without waiting.
  }
  return set;
}

#else

static int make_set(const struct pollfd *descriptors, nfds_t count) {
  (void)descriptors;
  (void)count;
  return -1;
}

#endif

static void note_waits(const poll_set_t *set, int change) {
  for (nfds_t index = 0; index < set->count; index++) {
    cbc_note_wait(set->descriptors[index].fd, change);
  }
}

static int await_set(cbc_frame_t *frame, poll_set_t *set, int64_t deadline, int *closed) {
  pthread_mutex_lock(&sets_lock);
  set->next = sets;
  sets = set;
  pthread_mutex_unlock(&sets_lock);
  note_waits(set, 1);
  int error = cbc_await(frame, set->set, CBC_READING, deadline, 0);
  note_waits(set, -1);
  pthread_mutex_lock(&sets_lock);
  for (poll_set_t **place = &sets; *place != NULL; place = &(*place)->next) {
    if (*place != set) continue;
    *place = set->next;
    break;
  }
  pthread_mutex_unlock(&sets_lock);
  *closed = set->closed;
  return error == EBADF ? 0 : error;
}

int cbc_await_any(
    cbc_frame_t *frame, const struct pollfd *descriptors, nfds_t count, int64_t deadline,
    int *closed) {
  *closed = -1;
  cbc_direction_t direction = CBC_READING;
  const struct pollfd *one = single(descriptors, count, &direction);
  if (one != NULL) {
    int error = cbc_await(frame, one->fd, direction, deadline, 0);
    if (error != EBADF) return error;
    *closed = one->fd;
    return 0;
  }
  poll_set_t set = {.descriptors = descriptors, .count = count, .closed = -1};
  set.set = count == 0 ? -1 : make_set(descriptors, count);
  if (set.set < 0) {
    int64_t left = deadline == CBC_FOREVER ? CBC_FOREVER : deadline - cck_clock_now();
    if (left <= 0) return 0;
    // With nothing to wait for it is a sleep.
    return cbc_pause(frame, count == 0 || left < 1000000 ? left : 1000000);
  }
  int error = await_set(frame, &set, deadline, closed);
  REAL(close)(set.set);
  return error;
}
