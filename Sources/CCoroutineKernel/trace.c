// SPDX-License-Identifier: Apache-2.0
#include "cck_trace.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cck_lock.h"
#include "cck_parker.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

struct cck_trace_ring {
  struct cck_trace_ring *next;  // of all rings; under `lock`
  cck_trace_event_t *events;
  uint64_t written;             // events so far; the oldest are overwritten
  uint64_t mask;
  uint32_t session;             // whose events these are; written under `lock`, read by its thread at any time
  uint32_t writing;             // E1
  uint32_t lane;                // of the thread, outside schedulers
  int is_orphan;                // its thread has ended; under `lock`
  cck_trace_known_t known[CCK_TRACE_KNOWN];
};

uint32_t cck_trace_session;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cck_trace_ring_t *rings;   // under `lock`
static uint32_t last_session;     // under `lock`
static uint32_t events_per_ring;  // under `lock`
static cck_trace_span_t current;  // under `lock`
static int has_counter;           // written before the first session begins

// Ticks: the processor's counter where it runs at one rate on all cores and through their sleep, else nanoseconds.
CCK_INLINE uint64_t ticks(void) {
#if defined(__x86_64__)
  if (CCK_LIKELY(has_counter)) return __rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
  return (uint64_t)cck_clock_now();
}

static void learn_counter(void) {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  // "Invariant TSC".
  has_counter = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
#else
  has_counter = 0;
#endif
}

// The two clocks at one moment, as nearly as can be had: the closest of a few tries.
static void read_clocks(uint64_t *tick, int64_t *nanosecond) {
  uint64_t best = UINT64_MAX;
  for (int attempt = 0; attempt < 8; attempt++) {
    uint64_t before = ticks();
    int64_t now = cck_clock_now();
    uint64_t after = ticks();
    if (after - before >= best) continue;
    best = after - before;
    *tick = before + best / 2;
    *nanosecond = now;
  }
}

// Frees those that no thread owns. Under `lock`.
static void drop_orphans(void) {
  cck_trace_ring_t **link = &rings;
  while (*link != NULL) {
    cck_trace_ring_t *ring = *link;
    if (ring->is_orphan) {
      *link = ring->next;
      free(ring->events);
      free(ring);
    } else {
      link = &ring->next;
    }
  }
}

uint32_t cck_trace_start(uint32_t capacity) {
  uint32_t session = 0;
  pthread_mutex_lock(&lock);
  if (__atomic_load_n(&cck_trace_session, __ATOMIC_RELAXED) == 0) {
    drop_orphans();
    if (last_session == 0) learn_counter();
    if (++last_session == 0) last_session = 1;
    session = last_session;
    events_per_ring = capacity;
    read_clocks(&current.first_tick, &current.first_nanosecond);
    __atomic_store_n(&cck_trace_session, session, __ATOMIC_SEQ_CST);
  }
  pthread_mutex_unlock(&lock);
  return session;
}

void cck_trace_stop(cck_trace_span_t *span) {
  pthread_mutex_lock(&lock);
  __atomic_store_n(&cck_trace_session, 0, __ATOMIC_SEQ_CST);
  cck_fence_heavy();
  for (cck_trace_ring_t *ring = rings; ring != NULL; ring = ring->next) {
    while (__atomic_load_n(&ring->writing, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  read_clocks(&current.last_tick, &current.last_nanosecond);
  *span = current;
  pthread_mutex_unlock(&lock);
}

void cck_trace_visit(
    uint32_t session, void *context,
    void (*visit)(
        void *, const cck_trace_event_t *, size_t, const cck_trace_event_t *, size_t, uint64_t)) {
  pthread_mutex_lock(&lock);
  for (cck_trace_ring_t *ring = rings; ring != NULL; ring = ring->next) {
    if (ring->session != session || ring->written == 0) continue;
    uint64_t size = ring->mask + 1;
    if (ring->written <= size) {
      visit(context, ring->events, (size_t)ring->written, NULL, 0, 0);
    } else {
      uint64_t oldest = ring->written & ring->mask;
      visit(
          context, ring->events + oldest, (size_t)(size - oldest), ring->events, (size_t)oldest,
          ring->written - size);
    }
  }
  pthread_mutex_unlock(&lock);
}

void cck_trace_forget(void) {
  pthread_mutex_lock(&lock);
  // No session is on, so no thread gets as far as the events (E1, E2).
  if (__atomic_load_n(&cck_trace_session, __ATOMIC_RELAXED) == 0) {
    for (cck_trace_ring_t *ring = rings; ring != NULL; ring = ring->next) {
      free(ring->events);
      ring->events = NULL;
      __atomic_store_n(&ring->session, 0, __ATOMIC_RELAXED);
      ring->written = 0;
    }
  }
  pthread_mutex_unlock(&lock);
}

// Has the thread's ring serve the session. Returns null if there is no memory, or the session is over.
static __attribute__((noinline)) cck_trace_ring_t *join_session(cck_thread_t *thread) {
  if (!thread->registered) cck_thread_register(thread);
  pthread_mutex_lock(&lock);
  cck_trace_ring_t *ring = thread->trace_ring;
  uint32_t session = __atomic_load_n(&cck_trace_session, __ATOMIC_RELAXED);
  if (session == 0) {
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  if (ring == NULL) {
    ring = calloc(1, sizeof *ring);
    if (ring != NULL) {
      ring->next = rings;
      rings = ring;
      thread->trace_ring = ring;
    }
  }
  if (ring != NULL && ring->session != session) {
    if (ring->events == NULL || ring->mask + 1 != events_per_ring) {
      free(ring->events);
      // Large, so fresh pages of zeros, of which only those count that are written.
      ring->events = calloc(events_per_ring, sizeof *ring->events);
    }
    memset(ring->known, 0, sizeof ring->known);
    ring->written = 0;
    ring->mask = (uint64_t)events_per_ring - 1;
    ring->lane = CCK_TRACE_NO_LANE;
    __atomic_store_n(&ring->session, ring->events == NULL ? 0 : session, __ATOMIC_RELAXED);
  }
  int serves = ring != NULL && ring->session == session;
  pthread_mutex_unlock(&lock);
  return serves ? ring : NULL;
}

// The thread's ring for the session that is on.
CCK_INLINE cck_trace_ring_t *own_ring(cck_thread_t *thread, uint32_t session) {
  cck_trace_ring_t *ring = thread->trace_ring;
  if (CCK_LIKELY(
          ring != NULL && __atomic_load_n(&ring->session, __ATOMIC_RELAXED) == session)) {
    return ring;
  }
  return join_session(thread);
}

void cck_trace_record(
    cck_thread_t *thread, uint8_t kind, uint8_t flags, uint16_t lane, uint64_t fiber,
    uint64_t other, uint32_t object) {
  uint32_t session = cck_trace_current();
  if (session == 0) return;
  cck_trace_ring_t *ring = own_ring(thread, session);
  if (ring == NULL) return;
  __atomic_store_n(&ring->writing, 1, __ATOMIC_RELAXED);
  cck_fence_light();
  if (CCK_LIKELY(cck_trace_current() == session)) {
    cck_trace_event_t *event = &ring->events[ring->written & ring->mask];
    event->time = ticks();
    event->fiber = fiber;
    event->other = other;
    event->object = object;
    event->lane = lane;
    event->kind = kind;
    event->flags = flags;
    ring->written++;
  }
  __atomic_store_n(&ring->writing, 0, __ATOMIC_RELEASE);
}

uint32_t cck_trace_thread_lane(cck_thread_t *thread) {
  uint32_t session = cck_trace_current();
  cck_trace_ring_t *ring = session == 0 ? NULL : own_ring(thread, session);
  return ring == NULL ? CCK_TRACE_NO_LANE : ring->lane;
}

void cck_trace_set_thread_lane(cck_thread_t *thread, uint16_t lane) {
  if (thread->trace_ring != NULL) thread->trace_ring->lane = lane;
}

cck_trace_known_t *cck_trace_known(cck_thread_t *thread, uint64_t key) {
  uint32_t session = cck_trace_current();
  cck_trace_ring_t *ring = session == 0 ? NULL : own_ring(thread, session);
  if (ring == NULL) return NULL;
  // Fibonacci hashing: keys are addresses and consecutive numbers.
  uint64_t place = (key * 0x9e3779b97f4a7c15u) >> 54;
  return &ring->known[place & (CCK_TRACE_KNOWN - 1)];
}

void cck_trace_leave(cck_thread_t *thread) {
  if (thread->trace_ring == NULL) return;
  pthread_mutex_lock(&lock);
  thread->trace_ring->is_orphan = 1;
  thread->trace_ring = NULL;
  pthread_mutex_unlock(&lock);
}
