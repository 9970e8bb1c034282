// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_lock.h"

#include <sched.h>

#include "cck_parker.h"
#include "cck_sanitizer.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

// From <linux/membarrier.h>, which not every libc ships.
#define MEMBARRIER_PRIVATE_EXPEDITED (1 << 3)
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED (1 << 4)

static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }
#endif

int cck_lock_bias_works = 0;

__attribute__((constructor)) static void probe(void) {
#if defined(__linux__)
  cck_lock_bias_works =
      !cck_sanitizer_is_tsan() && membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) == 0;
#endif
}

void cck_fence_heavy(void) {
#if defined(__linux__)
  if (cck_lock_bias_works) {
    membarrier(MEMBARRIER_PRIVATE_EXPEDITED);
    return;
  }
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// L5. As many revocations as this may come at once, and then one each millisecond: 20 µs of processor time.
#define REVOCATIONS_AT_ONCE 64
#define BETWEEN_REVOCATIONS 1000000
uint32_t cck_lock_unbiased_round = 1;

int64_t cck_lock_settle_revocation(int64_t settled, int64_t now) {
  settled = (settled > now ? settled : now) + BETWEEN_REVOCATIONS;
  return settled - now > (int64_t)REVOCATIONS_AT_ONCE * BETWEEN_REVOCATIONS ? 0 : settled;
}

void cck_lock_revocation_barrier(void) {
  static int64_t settled_at = 0;
  cck_fence_heavy();
  // Two that come at the same time may count as one: no more than a hint is wanted.
  int64_t before = __atomic_load_n(&settled_at, __ATOMIC_RELAXED);
  int64_t after = cck_lock_settle_revocation(before, cck_clock_now());
  if (after != 0) {
    __atomic_store_n(&settled_at, after, __ATOMIC_RELAXED);
  } else {
    uint32_t round = __atomic_load_n(&cck_lock_unbiased_round, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&cck_lock_unbiased_round, round != 0 ? round : 1, __ATOMIC_RELAXED);
  }
}

int cck_lock_bias_pays_in_round(cck_thread_t *thread) {
  uint32_t round = __atomic_load_n(&cck_lock_unbiased_round, __ATOMIC_RELAXED);
  if (thread->unbiased_round == 0) {
    // A thread's first lock: the rounds before it were others'.
    thread->unbiased_round = round;
    return 1;
  }
  if (thread->unbiased_left == 0) thread->unbiased_left = CCK_LOCKS_WITHOUT_BIAS;
  if (--thread->unbiased_left == 0) thread->unbiased_round = round;
  return 0;
}

// How long one waits between two looks at `held`, in pauses of the processor, 10 to 50 ns each.
//
// A section takes less than the lock's cache line takes to come over, and so does the way to the next section of a
// thread that has many. So who leaves that thread alone for a while finds that it has had a run of them, at the
// cost of one: a look takes the line away from it, and two threads that look all the time pass the line to and fro
// for every section (a full channel of 128 between two threads: 72 ns a message, 27 like this).
#define FIRST_WAIT 16u
#define LONGEST_WAIT 256u
// By now the holder has lost its processor.
#define PATIENCE 1024u

static void take_held(cck_lock_t *lock) {
  unsigned waited = 0;
  for (unsigned wait = FIRST_WAIT;; wait = wait < LONGEST_WAIT ? 2 * wait : wait) {
    if (__atomic_load_n(&lock->held, __ATOMIC_RELAXED) == 0) {
      uint32_t expected = 0;
      if (__atomic_compare_exchange_n(
              &lock->held, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return;
      }
    }
    if (waited >= PATIENCE) {
      sched_yield();
      continue;
    }
    for (unsigned i = 0; i < wait; ++i) cck_processor_pause();
    waited += wait;
  }
}

static void wait_until_not_busy(cck_lock_t *lock) {
  // One section's end, which does not begin another: the owner's next look finds it has no bias.
  for (unsigned waited = 0; __atomic_load_n(&lock->busy, __ATOMIC_ACQUIRE) != 0; ++waited) {
    if (waited < PATIENCE) {
      cck_processor_pause();
    } else {
      sched_yield();
    }
  }
}

static int try_bias(cck_lock_t *lock, cck_thread_t *thread) {
  uintptr_t nobody = 0;
  if (!__atomic_compare_exchange_n(
          &lock->owner, &nobody, (uintptr_t)thread, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return 0;
  }
  return cck_lock_enter_biased(lock, thread);
}

cck_lock_hold_t cck_lock_try_slowly(cck_lock_t *lock, cck_thread_t *thread) {
  return try_bias(lock, thread) ? CCK_LOCK_HELD_BIASED : CCK_LOCK_NOT_TAKEN;
}

static void take_held_and_revoke(cck_lock_t *lock, void (*barrier)(void)) {
  take_held(lock);
  // SAFETY: L4 and L7. `held` is ours, so nobody else revokes, makes the lock its own or enters in shared mode meanwhile.
  if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == CCK_LOCK_SHARED) return;
  __atomic_store_n(&lock->owner, CCK_LOCK_SHARED, __ATOMIC_SEQ_CST);
  barrier();
  wait_until_not_busy(lock);
}

cck_lock_mode_t cck_lock_acquire_slowly(cck_lock_t *lock, cck_thread_t *thread) {
  if (cck_lock_bias_works && __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == 0
      && try_bias(lock, thread)) {
    return CCK_LOCK_TAKEN_BIASED;
  }
  take_held_and_revoke(lock, cck_lock_revocation_barrier);
  return CCK_LOCK_TAKEN_SHARED;
}

// Not counted for L5: the keeper sees to it that this is rare.
void cck_lock_acquire_from_keeper(cck_lock_t *lock) { take_held_and_revoke(lock, cck_fence_heavy); }

// The two halves are the revocation of L4 around a barrier that serves many locks.

void cck_lock_begin_unbias(cck_lock_t *lock) {
  take_held(lock);
  __atomic_store_n(&lock->owner, CCK_LOCK_SHARED, __ATOMIC_SEQ_CST);
}

void cck_lock_end_unbias(cck_lock_t *lock) {
  wait_until_not_busy(lock);
  __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}
