// SPDX-License-Identifier: Apache-2.0
//
// Waiting for many descriptors at once: epoll or io_uring on Linux, kqueue on Apple systems, one interface.
#ifndef CCK_POLLER_H
#define CCK_POLLER_H

#include <errno.h>

#include "cck_base.h"

/// What a descriptor is ready for, or is to be watched for.
enum {
  CCK_POLL_READ = 1,
  CCK_POLL_WRITE = 2,
  /// Reported only: the other end is gone, or has said that it writes no more, or there is an error. What is
  /// left to be read can be less than what a call asks for without being all.
  CCK_POLL_HANG_UP = 4,
  /// Reported only: it is watched no more, whatever was asked for.
  CCK_POLL_ENDED = 8,
};

/// Error numbers that mean something of their own here.
enum {
  CCK_ERROR_BAD_DESCRIPTOR = EBADF,
  CCK_ERROR_NOT_WATCHABLE = EPERM,
  CCK_ERROR_NO_THREAD = EAGAIN,
};

/// How a poller learns of descriptors.
typedef enum cck_poller_kind {
  CCK_POLLER_EPOLL,
  CCK_POLLER_URING,
  CCK_POLLER_KQUEUE,
} cck_poller_kind_t;

/// A set of watched descriptors. Its owner waits; anybody may add, remove and ring.
typedef struct cck_poller cck_poller_t;

/// A descriptor that has become ready.
typedef struct cck_poller_event {
  /// What it was added with; 0 is the bell's.
  uint64_t token;
  uint32_t ready;
} cck_poller_event_t;

/// Makes a poller. Returns 0 or an error number: there is no descriptor or no memory for it.
///
/// `is_loop` says that one thread alone waits and watches, as long as no other calls `cck_poller_begin`: then it
/// is of the kind `cck_poller_loop_kind`, if the system has one left. All other pollers are of the system's own
/// kind, whose watches belong to no thread.
int cck_poller_make(cck_poller_t *_Nullable *_Nonnull poller, int is_loop);

/// The kind of a loop's poller in this process.
///
/// The environment's COROUTINES_POLLER asks for one: `epoll` or `io_uring`. A value that means nothing here, or
/// an io_uring that the system does not allow, is told on standard error, once.
cck_poller_kind_t cck_poller_loop_kind(void);

/// Closes it. Nobody waits, and nobody rings any more.
void cck_poller_free(cck_poller_t *_Nonnull poller);

/// What a poller watches stays open until it is unwatched, whoever closes the descriptor.
CCK_INLINE int cck_poller_kind_holds_files(cck_poller_kind_t kind) {
  return kind == CCK_POLLER_URING;
}

/// The calling thread is the owner now. Returns 1 if what it has watched so far must be watched anew, because
/// that was another thread.
int cck_poller_begin(cck_poller_t *_Nonnull poller);

cck_poller_kind_t cck_poller_kind(const cck_poller_t *_Nonnull poller);

/// Watches a descriptor for good: an event for each change to ready, also for the one that has been.
///
/// `token` is not 0. Watching it again replaces token and interest. Returns 0 or an error number; EPERM for a
/// file, which is always ready.
int cck_poller_watch(
    cck_poller_t *_Nonnull poller, int descriptor, uint32_t interest, uint64_t token);

/// Watches a descriptor until it is ready once: an event as soon as it is, and then none before the next call.
int cck_poller_watch_once(
    cck_poller_t *_Nonnull poller, int descriptor, uint32_t interest, uint64_t token);

/// Forgets about a descriptor that is still open; no effect if it is not watched.
void cck_poller_unwatch(cck_poller_t *_Nonnull poller, int descriptor);

/// Waits for events, for `timeout` nanoseconds at most (negative: for ever), and returns how many there are; 0
/// after the time, or when a signal has come.
int cck_poller_wait(
    cck_poller_t *_Nonnull poller, cck_poller_event_t *_Nonnull events, int capacity,
    int64_t timeout);

/// Ends a wait, or the next one.
void cck_poller_ring(cck_poller_t *_Nonnull poller);

#endif
