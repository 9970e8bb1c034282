// SPDX-License-Identifier: Apache-2.0
#include "cck_object.h"

#include "cck_context.h"

uintptr_t cck_sole_reference = 0;
uintptr_t cck_reference_step = 0;
uintptr_t cck_counts_at_end = 0;
uintptr_t cck_counts_at_end_kept = 0;

// The runtime's own.
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);

void cck_object_learn(const void *single, const void *pair) {
  if (cck_instrumented) return;
  uintptr_t sole = ((const uintptr_t *)single)[1];
  uintptr_t step = ((const uintptr_t *)pair)[1] - sole;
  if (step == 0 || (step & (step - 1)) != 0) return;
  __atomic_store_n(&cck_reference_step, step, __ATOMIC_RELAXED);
  __atomic_store_n(&cck_sole_reference, sole, __ATOMIC_RELAXED);
}

void cck_object_learn_end(void *object) {
  if (cck_sole_reference == 0) return;
  const uintptr_t *counts = (const uintptr_t *)object + 1;
  uintptr_t at_end = *counts;
  swift_unownedRetain(object);
  uintptr_t kept = *counts;
  swift_unownedRelease(object);
  // A reference more, and as before without it: so both say all that there is.
  if (*counts != at_end || kept == at_end) return;
  __atomic_store_n(&cck_counts_at_end, at_end, __ATOMIC_RELAXED);
  // The other one is looked at only if this is there; on one processor in this order, and else both of one value for good.
  __atomic_store_n(&cck_counts_at_end_kept, kept, __ATOMIC_RELEASE);
}

void cck_object_drop_memory(void *memory) { swift_unownedRelease(memory); }
