// SPDX-License-Identifier: Apache-2.0
//
// Putting one thread to sleep until another wakes it or a time has come, and the clock for that.
#ifndef CCK_PARKER_H
#define CCK_PARKER_H

#include "cck_base.h"
#include "cck_poller.h"

#if !defined(__linux__)
#include <pthread.h>
#endif

/// A thread's place to sleep. `state` is not 0 from the owner's announcement until somebody wakes it: 1 if it
/// is going to sleep here, 2 if in `poller`. `wakes` counts those who did, for reports; the owner writes it, since who wakes it may not
/// touch the parker after that.
typedef struct cck_parker {
  uint32_t state;
  size_t wakes;
  cck_poller_t *_Nullable poller;
#if !defined(__linux__)
  pthread_mutex_t mutex;
  pthread_cond_t condition;
#endif
} cck_parker_t;

/// Processors that the calling thread may run on; 1 at least.
int cck_processor_count(void);

/// Processors of the machine that were switched on when this was first asked, for whomever; 1 at least.
int cck_online_processor_count(void);

/// Tells the processor that the thread waits in a loop.
CCK_INLINE void cck_processor_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#else
  __asm__ volatile("" ::: "memory");
#endif
}

/// Lets another thread have the processor, if any waits for it.
void cck_processor_yield(void);

/// The processor's own counter of time, which is read in a third of the time of a clock. Its rate is not known, and it
/// may jump: for guessing whether a look at the clock is due.
CCK_INLINE uint64_t cck_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

/// About a millisecond of it: 0.4 to 2 ms on x86, whose rate is that of the processor. Never, where there is no counter,
/// and under valgrind, where all takes fifty times as long: what it counts must not depend on how long that is.
uint64_t cck_ticks_of_millisecond(void);

/// Nanoseconds of the monotonic clock.
int64_t cck_clock_now(void);

/// Nanoseconds since 1970: for people.
int64_t cck_clock_wall(void);

/// Nanoseconds of processor time that all threads of the process have used.
int64_t cck_process_time(void);

/// A clock of the processor time that the calling thread uses, for `cck_thread_time`; 0 if the system has none.
int32_t cck_thread_clock(void);

/// Nanoseconds of processor time that a thread has used, which has not ended; 0 if its clock is.
int64_t cck_thread_time(int32_t clock);

void cck_parker_initialize(cck_parker_t *_Nonnull parker);

/// The owner says that it is about to sleep. It must look for work once more after this.
CCK_INLINE void cck_parker_announce(cck_parker_t *_Nonnull parker) {
  __atomic_store_n(&parker->state, 1, __ATOMIC_SEQ_CST);
}

/// The same, for a sleep in `poller`.
CCK_INLINE void cck_parker_announce_polling(cck_parker_t *_Nonnull parker) {
  __atomic_store_n(&parker->state, 2, __ATOMIC_SEQ_CST);
}

/// The owner sleeps no longer, or found work after all.
CCK_INLINE void cck_parker_retract(cck_parker_t *_Nonnull parker) {
  if (__atomic_exchange_n(&parker->state, 0, __ATOMIC_SEQ_CST) != 0) return;
  __atomic_store_n(&parker->wakes, __atomic_load_n(&parker->wakes, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/// Not 0 from the owner's announcement until it is taken back or somebody wakes it.
CCK_INLINE int cck_parker_is_announced(cck_parker_t *_Nonnull parker) {
  return __atomic_load_n(&parker->state, __ATOMIC_SEQ_CST) != 0;
}

/// Sleeps until woken, for `timeout` nanoseconds at most (negative: for ever). May return early.
void cck_parker_sleep(cck_parker_t *_Nonnull parker, int64_t timeout);

/// Ends the owner's sleep; `state` is what it was.
void cck_parker_wake_slowly(cck_parker_t *_Nonnull parker, uint32_t state);

/// Wakes the owner if it sleeps or is about to. One load when it is awake.
CCK_INLINE void cck_parker_wake(cck_parker_t *_Nonnull parker) {
  if (__atomic_load_n(&parker->state, __ATOMIC_SEQ_CST) == 0) return;
  uint32_t state = __atomic_exchange_n(&parker->state, 0, __ATOMIC_SEQ_CST);
  if (state != 0) cck_parker_wake_slowly(parker, state);
}

/// How often anybody has woken the owner, or kept it from a sleep that it had announced, since `cck_parker_begin_anew`.
CCK_INLINE size_t cck_parker_wakes(cck_parker_t *_Nonnull parker) {
  return __atomic_load_n(&parker->wakes, __ATOMIC_RELAXED);
}

/// Counts from 0.
CCK_INLINE void cck_parker_begin_anew(cck_parker_t *_Nonnull parker) {
  __atomic_store_n(&parker->wakes, 0, __ATOMIC_RELAXED);
}

#endif
