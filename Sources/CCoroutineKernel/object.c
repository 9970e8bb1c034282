// SPDX-License-Identifier: Apache-2.0
#include "cck_object.h"

#include "cck_context.h"

uintptr_t cck_sole_reference = 0;
uintptr_t cck_two_references = 0;

void cck_object_learn(const void *single, const void *pair) {
  if (cck_instrumented) return;
  __atomic_store_n(&cck_sole_reference, ((const uintptr_t *)single)[1], __ATOMIC_RELAXED);
  __atomic_store_n(&cck_two_references, ((const uintptr_t *)pair)[1], __ATOMIC_RELAXED);
}
