// SPDX-License-Identifier: Apache-2.0
//
// The one lock. It is biased: until a second thread comes, the first one takes and leaves it with
// plain loads and stores, which is what keeps channels on one event loop free of atomic operations.
//
// Invariants
//   L1  `owner` goes 0 → a thread's record → CCK_LOCK_SHARED, or 0 → CCK_LOCK_SHARED, never back, but for L7.
//   L2  In biased mode only the owner writes `busy`; it is inside when `busy` is 1 *and* it has read
//       itself in `owner` after that store.
//   L3  In shared mode whoever moved `held` from 0 to 1 is inside.
//   L4  Revoking: take `held`, store CCK_LOCK_SHARED in `owner`, membarrier, wait until `busy` is 0.
//       The barrier runs on the owner's processor between the revoker's store and its load, so either
//       the owner's store to `busy` is seen here, or our store to `owner` is seen there: the
//       asymmetric form of Dekker's algorithm, as in biased locking of the Java machines.
//   L5  To take a bias away costs microseconds, of both threads. So if that happens more often than once a
//       millisecond, for longer than a short while, a round begins in which the next locks of each thread are
//       shared from the start: a program whose objects live for one exchange between threads pays for a few in
//       thousands. (The Java machines leave biasing off for good for a class of objects after so many revocations;
//       here the objects of one class differ from each other more than the hours of a program do.)
//   L6  The owner may look at what the lock guards without taking it: what it saw was so when it began to look, if
//       after that it reads itself in `owner`. Whoever else writes there has revoked the bias, so by L4 there was a
//       barrier on the owner's processor before the write; a look that sees the write comes after the barrier, and so
//       does the load of `owner` behind it, which then shows CCK_LOCK_SHARED. This holds for several locks that are
//       looked behind one after the other, each before its own `owner` is read: all that was seen was so at one
//       moment, the beginning. The looks are atomic loads of words, because others may write meanwhile, and what they
//       found is dropped if anybody may have.
//   L7  A lock may have a keeper: one thread that takes it nearly every time. It makes the lock biased to itself again, while it
//       is inside in shared mode, when that pays. All others take it by `cck_lock_acquire_from_keeper`, which looks at `owner`
//       only once it has moved `held`: whoever moved it after the keeper left finds what the keeper has written. One that
//       looked before, as `cck_lock_acquire` does, might take an old CCK_LOCK_SHARED for the present. The keeper itself may do
//       so: nobody else ends that state.
// A thread record's address may be used again by a later thread. That is sound: two live threads
// never share one, and starting a thread happens after the end of the one whose record it got.
//
// Sections are short and run no code of the user's, so waiting is a spin that turns into yielding.
#ifndef CCK_LOCK_H
#define CCK_LOCK_H

#include "cck_base.h"
#include "cck_thread.h"

#define CCK_LOCK_SHARED ((uintptr_t)1)

typedef struct cck_lock {
  uintptr_t owner;  ///< 0: nobody yet · a thread's record: biased to it · CCK_LOCK_SHARED.
  uint32_t busy;    ///< The owner of a biased lock is inside, or trying.
  uint32_t held;    ///< Somebody is inside in shared mode, or revoking the bias.
} cck_lock_t;

/// How a lock was taken, to be handed to the release.
typedef enum cck_lock_mode { CCK_LOCK_TAKEN_SHARED = 0, CCK_LOCK_TAKEN_BIASED = 1 } cck_lock_mode_t;

/// 1 where biasing works: Linux with membarrier, and no ThreadSanitizer, which cannot see it.
extern int cck_lock_bias_works;

cck_lock_mode_t cck_lock_acquire_slowly(
    cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread);

/// The heavy half of an asymmetric fence: every other thread has passed a `cck_fence_light`, or will
/// see all that came before this, and what it wrote before its light fence is seen after this.
void cck_fence_heavy(void);

/// The light half: orders the compiler only, where membarrier does the rest.
CCK_INLINE void cck_fence_light(void) {
  if (CCK_LIKELY(cck_lock_bias_works)) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  } else {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}

/// 1 if the lock has no bias, and so never will have one (L1).
CCK_INLINE int cck_lock_is_shared(const cck_lock_t *_Nonnull lock) {
  return __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) == CCK_LOCK_SHARED;
}

/// First half of ending a lock's bias; then comes `cck_lock_revocation_barrier`, once for many locks, unless all are biased to
/// the caller, and then `cck_lock_end_unbias`. Nobody gets the lock in between.
void cck_lock_begin_unbias(cck_lock_t *_Nonnull lock);

/// Second half.
void cck_lock_end_unbias(cck_lock_t *_Nonnull lock);

/// How many locks of a thread begin in shared mode after a revocation too many (L5).
///
/// Those that are made by then and wait in queues cost ten revocations more. Among so many new ones that is 3 ns each,
/// at 20 µs; and for nothing it is 0.5 ms, after revocations that took longer.
#define CCK_LOCKS_WITHOUT_BIAS 65536

/// The number of the round of L5, which is never 0.
extern uint32_t cck_lock_unbiased_round;

/// As `cck_lock_bias_pays`, in a round that the thread has not gone through.
int cck_lock_bias_pays_in_round(cck_thread_t *_Nonnull thread);

/// 0 if a new lock had better begin in shared mode (L5): that counts as having made one.
///
/// Each thread counts for itself: one count for all would be a cache line that goes to and fro.
CCK_INLINE int cck_lock_bias_pays(cck_thread_t *_Nonnull thread) {
  uint32_t round = __atomic_load_n(&cck_lock_unbiased_round, __ATOMIC_RELAXED);
  return CCK_LIKELY(thread->unbiased_round == round) || cck_lock_bias_pays_in_round(thread);
}

/// When the revocations up to now would have been no more than one in each millisecond, given when those before would
/// have been; 0 if this is one too many.
///
/// A leaky bucket, in the form of the generic cell rate algorithm (ITU-T I.371).
int64_t cck_lock_settle_revocation(int64_t settled, int64_t now);

/// The barrier of a revocation, or of several at once, which is noted for L5.
void cck_lock_revocation_barrier(void);

/// 1 if the lock is biased to the thread, which asks: before a look of L6, and after it.
CCK_INLINE int cck_lock_is_biased_to(const cck_lock_t *_Nonnull lock, const cck_thread_t *_Nonnull thread) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  int is_biased = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == (uintptr_t)thread;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return is_biased;
}

/// 1 if looks without locks are of use (L6): no lock is biased to anybody otherwise.
CCK_INLINE int cck_lock_may_look(void) { return cck_lock_bias_works; }

/// One word, looked at as L6 has it.
CCK_INLINE uintptr_t cck_lock_look(const void *_Nonnull word) {
  return __atomic_load_n((const uintptr_t *)word, __ATOMIC_RELAXED);
}

/// One byte, in the same way.
CCK_INLINE uint8_t cck_lock_look_at_byte(const void *_Nonnull byte) {
  return __atomic_load_n((const uint8_t *)byte, __ATOMIC_RELAXED);
}

/// Makes a lock that will be biased to the first thread that takes it.
CCK_INLINE cck_lock_t cck_lock_make_biased(void) {
  cck_lock_t lock = {cck_lock_bias_works ? 0 : CCK_LOCK_SHARED, 0, 0};
  return lock;
}

/// Makes a lock that is biased to a thread from the start: for objects made by the thread that will
/// use them. As if that thread had taken and left it once, before anybody else knew the object.
CCK_INLINE cck_lock_t cck_lock_make_owned(cck_thread_t *_Nonnull thread) {
  cck_lock_t lock = {cck_lock_bias_works ? (uintptr_t)thread : CCK_LOCK_SHARED, 0, 0};
  return lock;
}

/// Makes the lock of an object that is used again what `cck_lock_make_owned` makes, with a store if anything differs.
///
/// Nobody is inside or on the way there: whoever was held the object.
CCK_INLINE void cck_lock_renew_owned(cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread) {
  if (CCK_LIKELY(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == (uintptr_t)thread)) return;
  __atomic_store_n(&lock->owner, cck_lock_make_owned(thread).owner, __ATOMIC_RELAXED);
}

/// Makes a lock for objects that are normally used from several threads.
CCK_INLINE cck_lock_t cck_lock_make_shared(void) {
  cck_lock_t lock = {CCK_LOCK_SHARED, 0, 0};
  return lock;
}

/// Goes inside a lock that was biased to the thread a moment ago (L2); 0 if it is not any more.
CCK_INLINE int cck_lock_enter_biased(cck_lock_t *_Nonnull lock, const cck_thread_t *_Nonnull thread) {
  __atomic_store_n(&lock->busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (CCK_LIKELY(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == (uintptr_t)thread)) return 1;
  __atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE);
  return 0;
}

/// Takes the lock if it is biased to the thread.
CCK_INLINE int cck_lock_acquire_biased(cck_lock_t *_Nonnull lock, const cck_thread_t *_Nonnull thread) {
  return CCK_LIKELY(__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == (uintptr_t)thread) &&
         cck_lock_enter_biased(lock, thread);
}

/// Takes the lock. In biased mode: two loads and a store. In shared mode: one compare-and-swap.
CCK_INLINE cck_lock_mode_t cck_lock_acquire(
    cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread) {
  cck_prefetch_to_write(lock);
  uintptr_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
  if (CCK_LIKELY(owner == (uintptr_t)thread)) {
    if (CCK_LIKELY(cck_lock_enter_biased(lock, thread))) return CCK_LOCK_TAKEN_BIASED;
  } else if (owner == CCK_LOCK_SHARED) {
    uint32_t expected = 0;
    if (CCK_LIKELY(__atomic_compare_exchange_n(
            &lock->held, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))) {
      return CCK_LOCK_TAKEN_SHARED;
    }
  }
  return cck_lock_acquire_slowly(lock, thread);
}

/// What came of `cck_lock_try`.
typedef enum cck_lock_hold {
  CCK_LOCK_NOT_TAKEN = 0,
  CCK_LOCK_HELD_SHARED = 1,
  CCK_LOCK_HELD_BIASED = 2,
  CCK_LOCK_HELD_ALREADY = 3,  ///< By an earlier call on this thread; that one leaves it.
} cck_lock_hold_t;

/// Takes a lock that has a keeper, on another thread (L7). If the lock is biased it costs a barrier, which takes microseconds
/// of both.
void cck_lock_acquire_from_keeper(cck_lock_t *_Nonnull lock);

/// Makes a lock biased to its keeper, which is the caller and inside in shared mode (L7); to be left as in shared mode.
CCK_INLINE void cck_lock_keep(cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread) {
  if (cck_lock_bias_works) __atomic_store_n(&lock->owner, (uintptr_t)thread, __ATOMIC_RELAXED);
}

/// As `cck_lock_try`, for a lock that nobody has taken yet.
cck_lock_hold_t cck_lock_try_slowly(cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread);

/// Takes the lock if that needs no waiting: so several can be taken in any order.
///
/// It may find that this thread is inside already. In biased mode that is seen for certain: only the
/// owner writes `busy` (L2), so what it reads there is what it wrote, and 1 is between taking and
/// leaving. In shared mode such a lock counts as not taken.
CCK_INLINE cck_lock_hold_t cck_lock_try(
    cck_lock_t *_Nonnull lock, cck_thread_t *_Nonnull thread) {
  uintptr_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
  if (CCK_LIKELY(owner == (uintptr_t)thread)) {
    if (CCK_UNLIKELY(__atomic_load_n(&lock->busy, __ATOMIC_RELAXED) != 0)) {
      return CCK_LOCK_HELD_ALREADY;
    }
    return CCK_LIKELY(cck_lock_enter_biased(lock, thread)) ? CCK_LOCK_HELD_BIASED : CCK_LOCK_NOT_TAKEN;
  }
  if (owner == CCK_LOCK_SHARED) {
    uint32_t expected = 0;
    return __atomic_compare_exchange_n(
               &lock->held, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
               ? CCK_LOCK_HELD_SHARED
               : CCK_LOCK_NOT_TAKEN;
  }
  return owner == 0 ? cck_lock_try_slowly(lock, thread) : CCK_LOCK_NOT_TAKEN;
}

/// Leaves the lock: one store.
CCK_INLINE void cck_lock_release(cck_lock_t *_Nonnull lock, cck_lock_mode_t mode) {
  if (CCK_LIKELY(mode == CCK_LOCK_TAKEN_BIASED)) {
    __atomic_store_n(&lock->busy, 0, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
  }
}

#endif
