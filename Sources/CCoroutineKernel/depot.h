// SPDX-License-Identifier: Apache-2.0
//
// Free stacks of one size that any thread may take.
//
// Rules
//   M1  The first CCK_WARM_LIMIT keep up to CCK_WARM_BYTES of memory each, those beyond none. What is above that is *due*
//       to the system.
//   M2  To give it back takes up to a microsecond a stack, so that waits. Where the thread that releases runs a loop,
//       until a loop has had nothing to do for a while, or has ended, or until it has waited for CCK_LONGEST_DUE;
//       elsewhere until there is a batch. Meanwhile who needs a stack takes one of those first.
//   M3  While a stack's memory goes back, it is in no list, and the lock is free.
//
// All with the lock of the stacks.
#ifndef CCK_DEPOT_H
#define CCK_DEPOT_H

#include "cck_stack.h"
#include "slab.h"

#define CCK_WARM_LIMIT 16384
#define CCK_WARM_BYTES ((size_t)32 << 10)

typedef struct depot {
  cck_stack_t *warm;     // with as much memory as M1 lets them have
  size_t warm_count;
  cck_stack_t *worn;     // with more: due
  size_t worn_count;
  uintptr_t *cold;       // addresses of the others' slots, and in the lowest bits what guard they have …
  size_t cold_count;
  size_t cold_due;       // … of which the last so many still have their memory: due
  size_t cold_capacity;
  size_t returning;      // taken out for M3
} depot_t;

extern depot_t cck_depots[CCK_STACK_CLASSES];

// Takes a stack with its record and its memory; null if there is none.
cck_stack_t *cck_depot_take(depot_t *depot);

// Takes a slot whose record has to be written again; 0 if there is none.
uintptr_t cck_depot_take_slot(depot_t *depot);

// Adds one that nobody uses.
void cck_depot_put(depot_t *depot, cck_stack_t *stack);

// How many wait for somebody, or for their memory to have gone back.
size_t cck_depot_count(const depot_t *depot);

// M2, for a thread without a loop: gives back what is due if it is a batch. Leaves the lock meanwhile.
void cck_depot_return_batch(depot_t *depot, uint32_t size_class);

#endif
