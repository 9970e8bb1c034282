// SPDX-License-Identifier: Apache-2.0
//
// Swift objects, seen from below: whether anybody else holds one.
//
// A Swift object begins with its class and a word that holds its reference counts (the "heap object
// header" of Swift's ABI). What that word is in an object with one strong reference, no unowned one, and
// no weak one ever, and by what it grows with a second strong one, is read from two new objects at run time,
// and nothing else is assumed about it. Should a runtime count differently, no object is ever taken for
// unshared, and all are freed as usual.
#ifndef CCK_OBJECT_H
#define CCK_OBJECT_H

#include "cck_base.h"

/// The reference counts of an object that has just been made; 0 until they have been learnt, which no object's are.
extern uintptr_t cck_sole_reference;

/// By what they grow with each further strong reference: a power of two, or 0.
extern uintptr_t cck_reference_step;

/// Learns what reference counts look like from two objects that have one reference and two. Not under a
/// sanitizer, which cannot see the order that the counts establish, and should see objects end.
void cck_object_learn(const void *_Nonnull single, const void *_Nonnull pair);

/// 1 if the caller's reference is the only one, of any kind, and counts have been learnt. Then nobody can get another one, and what the
/// former holders did is visible: dropping a reference releases, and this acquires.
CCK_INLINE int cck_object_is_unshared(const void *_Nonnull object) {
  const uintptr_t *counts = (const uintptr_t *)object + 1;
  return __atomic_load_n(counts, __ATOMIC_ACQUIRE) == cck_sole_reference;
}

/// 1 if there are a few references more, and no weak or unowned one, and counts have been learnt.
CCK_INLINE int cck_object_is_shared_by_few(const void *_Nonnull object) {
  const uintptr_t *counts = (const uintptr_t *)object + 1;
  uintptr_t more = __atomic_load_n(counts, __ATOMIC_RELAXED) - cck_sole_reference;
  return (more & (cck_reference_step - 1)) == 0 && more <= 7 * cck_reference_step;
}

/// The runtime's: retains an object that no other thread knows yet, without an atomic operation.
void *_Nullable swift_nonatomic_retain(void *_Nullable object);

/// The same for an object that in most cases nobody but the caller holds: a load and a store, where the counts are
/// known.
CCK_INLINE void cck_object_retain_alone(void *_Nonnull object) {
  uintptr_t *counts = (uintptr_t *)object + 1;
  // Each of the two is 0 or what it will always be, so both are known here, whichever another thread sees first.
  uintptr_t sole = cck_sole_reference, step = cck_reference_step;
  if (CCK_LIKELY(step != 0 && __atomic_load_n(counts, __ATOMIC_RELAXED) == sole)) {
    __atomic_store_n(counts, sole + step, __ATOMIC_RELAXED);
  } else {
    swift_nonatomic_retain(object);
  }
}

/// The same for an object for which `cck_object_is_unshared` has said yes: a store.
CCK_INLINE void cck_object_retain_unshared(void *_Nonnull object) {
  __atomic_store_n((uintptr_t *)object + 1, cck_sole_reference + cck_reference_step, __ATOMIC_RELAXED);
}

/// The runtime's: ends a reference; the other is for an object that no other thread knows.
void swift_release(void *_Nullable object);
void swift_nonatomic_release(void *_Nullable object);

/// Ends the caller's reference: without an atomic operation, if it is the only one.
CCK_INLINE void cck_object_release(void *_Nonnull object) {
  if (cck_object_is_unshared(object)) {
    swift_nonatomic_release(object);
  } else {
    swift_release(object);
  }
}

/// The counts while an object's `deinit` runs that nobody refers to in any way; and the same with an unowned reference,
/// which keeps the memory when the object has gone. Both 0 until learnt.
extern uintptr_t cck_counts_at_end;
extern uintptr_t cck_counts_at_end_kept;

/// Learns these two from an object whose `deinit` calls this, and which nobody else refers to. After `cck_object_learn`.
void cck_object_learn_end(void *_Nonnull object);

/// Called by an object's `deinit`, as the last thing it does: keeps its memory for an object of the same size, to be made
/// there by `cck_object_renew` on this thread, or given back by `cck_object_drop_memory`.
///
/// What the runtime does with an object after its `deinit` is to give up the memory, unless unowned references are left;
/// here one is left for good. Returns 0, and does nothing, if there are others: they must go on to see that the object is
/// gone; or a table for weak ones, or if counts are not known.
CCK_INLINE int cck_object_keep_memory(void *_Nonnull object) {
  uintptr_t *counts = (uintptr_t *)object + 1;
  uintptr_t kept = cck_counts_at_end_kept;
  if (CCK_UNLIKELY(kept == 0 || __atomic_load_n(counts, __ATOMIC_RELAXED) != cck_counts_at_end)) return 0;
  // Nobody else can get at them any more, so a store will do.
  __atomic_store_n(counts, kept, __ATOMIC_RELAXED);
  return 1;
}

/// Makes kept memory an object of the class, with one reference; its properties have still to be stored.
CCK_INLINE void cck_object_renew(void *_Nonnull memory, const void *_Nonnull class_of_it) {
  *(const void **)memory = class_of_it;
  __atomic_store_n((uintptr_t *)memory + 1, cck_sole_reference, __ATOMIC_RELAXED);
}

/// Frees kept memory.
void cck_object_drop_memory(void *_Nonnull memory);

/// How many strong references there are: the runtime's own count, for reports.
size_t swift_retainCount(void *_Nonnull object);

#endif
