// SPDX-License-Identifier: Apache-2.0
//
// Where stacks lie: for those who find them from an address, and for debuggers.
#ifndef CCK_SLAB_H
#define CCK_SLAB_H

#include "cck_stack.h"

#include <pthread.h>

#define CCK_GUARD_SIZE ((size_t)16 << 10)
#define CCK_RECORD_SIZE ((sizeof(cck_stack_t) + 63) & ~(size_t)63)
#define CCK_COLOURS 16
#define CCK_COLOUR_STEP 128
#define CCK_SLAB_LIMIT 65536

/// A row of slots of one size.
typedef struct cck_slab {
  char *_Nonnull base;
  size_t stride;
  size_t count;
  uint32_t size_class;
  size_t used;  ///< The first so many have been in use; published after their records are there.
} cck_slab_t;

/// Guards the slabs and the depots.
extern pthread_mutex_t cck_stack_lock;

/// Append only, and the count is published after the entry: handlers of signals read it unlocked.
extern cck_slab_t cck_slabs[CCK_SLAB_LIMIT];
extern size_t cck_slab_count;

#endif
