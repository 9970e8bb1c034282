// SPDX-License-Identifier: Apache-2.0
//
// Written for Apple systems; never run there.
#if defined(__APPLE__)
#include <errno.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

#include "poller.h"

enum { most_events = 256 };

typedef struct kqueue_poller {
  cck_poller_t base;
  int queue;
  struct kevent64_s events[most_events];
} kqueue_poller_t;

static void kqueue_free(cck_poller_t *base) {
  close(((kqueue_poller_t *)base)->queue);
  free(base);
}

/// Any thread may wait.
static int kqueue_begin(cck_poller_t *base) {
  (void)base;
  return 0;
}

static int change(kqueue_poller_t *poller, struct kevent64_s *event) {
  return kevent64(poller->queue, event, 1, NULL, 0, 0, NULL) < 0 ? errno : 0;
}

static int kqueue_watch(
    cck_poller_t *base, int descriptor, uint32_t interest, uint64_t token, int once) {
  kqueue_poller_t *poller = (kqueue_poller_t *)base;
  uint16_t flags = EV_ADD | EV_ENABLE | (once ? EV_ONESHOT : EV_CLEAR);
  int16_t filters[] = {EVFILT_READ, EVFILT_WRITE};
  for (int index = 0; index < 2; index++) {
    if (!(interest & (index == 0 ? CCK_POLL_READ : CCK_POLL_WRITE))) continue;
    struct kevent64_s event;
    EV_SET64(&event, (uint64_t)descriptor, filters[index], flags, 0, 0, token, 0, 0);
    int code = change(poller, &event);
    if (code != 0) return code;
  }
  return 0;
}

static void kqueue_unwatch(cck_poller_t *base, int descriptor) {
  int16_t filters[] = {EVFILT_READ, EVFILT_WRITE};
  for (int index = 0; index < 2; index++) {
    struct kevent64_s event;
    EV_SET64(&event, (uint64_t)descriptor, filters[index], EV_DELETE, 0, 0, 0, 0, 0);
    change((kqueue_poller_t *)base, &event);
  }
}

static int kqueue_wait(
    cck_poller_t *base, cck_poller_event_t *events, int capacity, int64_t timeout) {
  kqueue_poller_t *poller = (kqueue_poller_t *)base;
  struct timespec time = {(time_t)(timeout / 1000000000), (long)(timeout % 1000000000)};
  int count = kevent64(
      poller->queue, NULL, 0, poller->events, capacity < most_events ? capacity : most_events, 0,
      timeout < 0 ? NULL : &time);
  int reported = 0;
  for (int index = 0; index < count; index++) {
    struct kevent64_s event = poller->events[index];
    if (event.filter == EVFILT_USER) continue;
    uint32_t ready = event.filter == EVFILT_WRITE ? CCK_POLL_WRITE : CCK_POLL_READ;
    if (event.flags & (EV_EOF | EV_ERROR)) ready |= CCK_POLL_HANG_UP;
    events[reported++] = (cck_poller_event_t){event.udata, ready};
  }
  return reported;
}

static void kqueue_ring(cck_poller_t *base) {
  struct kevent64_s event;
  EV_SET64(&event, 0, EVFILT_USER, 0, NOTE_TRIGGER, 0, 0, 0, 0);
  change((kqueue_poller_t *)base, &event);
}

static const poller_kind_t operations = {
    CCK_POLLER_KQUEUE, kqueue_free, kqueue_begin, kqueue_watch, kqueue_unwatch, kqueue_wait,
    kqueue_ring,
};

cck_poller_t *poller_make_kqueue(void) {
  kqueue_poller_t *poller = malloc(sizeof *poller);
  if (!poller) return NULL;
  poller->base.operations = &operations;
  poller->queue = kqueue();
  if (poller->queue < 0) {
    free(poller);
    return NULL;
  }
  struct kevent64_s bell;
  EV_SET64(&bell, 0, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, 0, 0, 0);
  int code = change(poller, &bell);
  if (code == 0) return &poller->base;
  kqueue_free(&poller->base);
  errno = code;
  return NULL;
}
#else
typedef int poller_kqueue_is_for_apple_systems;
#endif
