// SPDX-License-Identifier: Apache-2.0
//
// Recording what coroutines do: a ring of events for each thread, written by that thread alone.
//
// Invariants:
// - E1. Only its thread writes a ring, between `writing = 1` and `writing = 0`, and only after it has seen, in
//   between, that its session is still on.
// - E2. Who ends a session takes `cck_trace_session` back, passes a heavy fence, and waits until no ring is being
//   written. Each writer then has finished, or sees that the session is over (the fence's light half lies between
//   its two steps). So rings may be read after that.
// - E3. A ring belongs to its thread until that ends, through all sessions. Those of ended threads are freed at the
//   beginning of the next session.
#ifndef CCK_TRACE_H
#define CCK_TRACE_H

#include "cck_base.h"
#include "cck_thread.h"

/// What happened, to whom: 32 bytes, two in a line of the cache.
typedef struct cck_trace_event {
  uint64_t time;    ///< Ticks; see cck_trace_session_info_t.
  uint64_t fiber;   ///< The coroutine's number; 0 for none.
  uint64_t other;   ///< Another coroutine's, or what the kind says.
  uint32_t object;  ///< An entry in the recorder's list of objects; 0 for none.
  uint16_t lane;    ///< Where: the number of a scheduler or a thread.
  uint8_t kind;     ///< The recorder's.
  uint8_t flags;    ///< The recorder's.
} cck_trace_event_t;

/// A thread's ring.
typedef struct cck_trace_ring cck_trace_ring_t;

/// The number of the session that is on; 0 while none is.
extern uint32_t cck_trace_session;

/// The session that is on, or 0. One load.
CCK_INLINE uint32_t cck_trace_current(void) {
  return __atomic_load_n(&cck_trace_session, __ATOMIC_RELAXED);
}

/// The same, for what reads what was written before the session began without having joined it.
CCK_INLINE uint32_t cck_trace_current_acquire(void) {
  return __atomic_load_n(&cck_trace_session, __ATOMIC_ACQUIRE);
}

/// A session's beginning and end: in ticks and in nanoseconds of the monotonic clock.
typedef struct cck_trace_span {
  uint64_t first_tick, last_tick;
  int64_t first_nanosecond, last_nanosecond;
} cck_trace_span_t;

/// Begins a session with rings of `capacity` events, a power of two. Returns its number; 0 if one is on.
uint32_t cck_trace_start(uint32_t capacity);

/// Ends the session and waits for those who are writing. Not to be called twice for one session.
void cck_trace_stop(cck_trace_span_t *_Nonnull span);

/// Calls `visit` for each ring of a session that has ended: with the events that it holds, oldest first in two
/// pieces, and the number of those that were overwritten.
void cck_trace_visit(
    uint32_t session, void *_Nullable context,
    void (*_Nonnull visit)(
        void *_Nullable context, const cck_trace_event_t *_Nullable older, size_t older_count,
        const cck_trace_event_t *_Nullable newer, size_t newer_count, uint64_t lost));

/// Frees the memory of all rings that nobody can be writing; between sessions.
void cck_trace_forget(void);

/// The thread's ring has no lane yet in this session.
#define CCK_TRACE_NO_LANE 0xffffffffu

/// The lane of what the thread does outside schedulers, or CCK_TRACE_NO_LANE.
uint32_t cck_trace_thread_lane(cck_thread_t *_Nonnull thread);

/// Notes that lane.
void cck_trace_set_thread_lane(cck_thread_t *_Nonnull thread, uint16_t lane);

/// Records an event, if a session is on.
void cck_trace_record(
    cck_thread_t *_Nonnull thread, uint8_t kind, uint8_t flags, uint16_t lane, uint64_t fiber,
    uint64_t other, uint32_t object);

/// Entries of a ring's memory of objects; a power of two.
#define CCK_TRACE_KNOWN 1024

/// Something that the recorder knows by number: which one depends on the key and both words.
typedef struct cck_trace_known {
  uint64_t key, first, second;
  uint32_t object;
} cck_trace_known_t;

/// The thread's place for a key in this session; what is there may be of another key. Null if there is no memory.
cck_trace_known_t *_Nullable cck_trace_known(cck_thread_t *_Nonnull thread, uint64_t key);

/// The thread ends: its ring is nobody's.
void cck_trace_leave(cck_thread_t *_Nonnull thread);

#endif
