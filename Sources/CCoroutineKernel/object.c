// SPDX-License-Identifier: Apache-2.0
#include "cck_object.h"

#include "cck_context.h"

uintptr_t cck_sole_reference = 0;
uintptr_t cck_reference_step = 0;

void cck_object_learn(const void *single, const void *pair) {
  if (cck_instrumented) return;
  uintptr_t sole = ((const uintptr_t *)single)[1];
  uintptr_t step = ((const uintptr_t *)pair)[1] - sole;
  if (step == 0 || (step & (step - 1)) != 0) return;
  __atomic_store_n(&cck_reference_step, step, __ATOMIC_RELAXED);
  __atomic_store_n(&cck_sole_reference, sole, __ATOMIC_RELAXED);
}
