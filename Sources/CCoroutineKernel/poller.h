// SPDX-License-Identifier: Apache-2.0
//
// What the kinds of pollers have in common.
#ifndef POLLER_H
#define POLLER_H

#include "cck_poller.h"

/// The operations of one kind; see cck_poller.h.
typedef struct poller_kind {
  cck_poller_kind_t kind;
  void (*free)(cck_poller_t *poller);
  int (*begin)(cck_poller_t *poller);
  int (*watch)(cck_poller_t *poller, int descriptor, uint32_t interest, uint64_t token, int once);
  void (*unwatch)(cck_poller_t *poller, int descriptor);
  int (*wait)(cck_poller_t *poller, cck_poller_event_t *events, int capacity, int64_t timeout);
  void (*ring)(cck_poller_t *poller);
} poller_kind_t;

/// Each kind's poller begins with this.
struct cck_poller {
  const poller_kind_t *operations;
};

/// NULL, with errno, if the system has none of this kind.
cck_poller_t *poller_make_epoll(void);
cck_poller_t *poller_make_uring(void);
cck_poller_t *poller_make_kqueue(void);

#endif
