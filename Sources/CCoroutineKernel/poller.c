// SPDX-License-Identifier: Apache-2.0
#include "poller.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#define SYSTEM_KIND CCK_POLLER_EPOLL
static cck_poller_t *make_of_system(void) { return poller_make_epoll(); }
#else
#define SYSTEM_KIND CCK_POLLER_KQUEUE
static cck_poller_t *make_of_system(void) { return poller_make_kqueue(); }
#endif

/// Not io_uring, if nobody asks for it. A poll of epoll's tells of many descriptors, so the calls that a ring saves
/// are few; it takes up to a tenth more of the processor's time (Documentation/Performance.md, "Descriptors"),
/// memory for each loop, and a call for each descriptor that is closed.
static cck_poller_kind_t loop_kind = SYSTEM_KIND;

/// The probe is the real thing: older systems lack it, containers and `kernel.io_uring_disabled` refuse it.
static int try_uring(void) {
  cck_poller_t *poller = poller_make_uring();
  if (!poller) return 0;
  cck_poller_free(poller);
  return 1;
}

static void choose(void) {
  const char *wanted = getenv("COROUTINES_POLLER");
  if (!wanted || !*wanted) return;
#if defined(__linux__)
  if (strcmp(wanted, "epoll") == 0) return;
#else
  if (strcmp(wanted, "kqueue") == 0) return;
#endif
  if (strcmp(wanted, "io_uring") != 0) {
    fprintf(
        stderr,
        "swift-coroutines: COROUTINES_POLLER: there is no \"%s\" here. The system's own way is used; leave the "
        "variable out, or say io_uring.\n",
        wanted);
  } else if (try_uring()) {
    loop_kind = CCK_POLLER_URING;
  } else {
    fprintf(
        stderr, "swift-coroutines: COROUTINES_POLLER: io_uring is not to be had: %s. The system's own "
                "way is used.\n",
        strerror(errno));
  }
}

cck_poller_kind_t cck_poller_loop_kind(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose);
  return loop_kind;
}

int cck_poller_make(cck_poller_t **poller, int is_loop) {
  *poller = is_loop && cck_poller_loop_kind() == CCK_POLLER_URING ? poller_make_uring() : NULL;
  // One loop more than the system has rings for gets by without.
  if (!*poller) *poller = make_of_system();
  return *poller ? 0 : errno;
}

void cck_poller_free(cck_poller_t *poller) { poller->operations->free(poller); }

int cck_poller_begin(cck_poller_t *poller) { return poller->operations->begin(poller); }

cck_poller_kind_t cck_poller_kind(const cck_poller_t *poller) { return poller->operations->kind; }

int cck_poller_watch(cck_poller_t *poller, int descriptor, uint32_t interest, uint64_t token) {
  return poller->operations->watch(poller, descriptor, interest, token, 0);
}

int cck_poller_watch_once(
    cck_poller_t *poller, int descriptor, uint32_t interest, uint64_t token) {
  return poller->operations->watch(poller, descriptor, interest, token, 1);
}

void cck_poller_unwatch(cck_poller_t *poller, int descriptor) {
  poller->operations->unwatch(poller, descriptor);
}

int cck_poller_wait(
    cck_poller_t *poller, cck_poller_event_t *events, int capacity, int64_t timeout) {
  return poller->operations->wait(poller, events, capacity, timeout);
}

void cck_poller_ring(cck_poller_t *poller) { poller->operations->ring(poller); }
