// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "depot.h"

#include "advice.h"
#include "cck_parker.h"

#include <stdlib.h>

// What free stacks may keep until there is a batch of them.
#define BATCH_BYTES ((size_t)4 << 20)

depot_t cck_depots[CCK_STACK_CLASSES];
size_t cck_stacks_due;
int64_t cck_stacks_due_since;

// Notes how many of a depot's have become due, or are no longer.
static void note_due(ptrdiff_t change) {
  size_t due = cck_stacks_due + (size_t)change;
  if (cck_stacks_due == 0) __atomic_store_n(&cck_stacks_due_since, cck_clock_now(), __ATOMIC_RELAXED);
  __atomic_store_n(&cck_stacks_due, due, __ATOMIC_RELAXED);
}

static cck_stack_t *pop(cck_stack_t **list) {
  cck_stack_t *stack = *list;
  *list = stack->next;
  return stack;
}

static void push(cck_stack_t **list, cck_stack_t *stack) {
  stack->next = *list;
  *list = stack;
}

cck_stack_t *cck_depot_take(depot_t *depot) {
  if (depot->worn != NULL) {
    depot->worn_count -= 1;
    note_due(-1);
    return pop(&depot->worn);
  }
  if (depot->warm == NULL) return NULL;
  depot->warm_count -= 1;
  return pop(&depot->warm);
}

uintptr_t cck_depot_take_slot(depot_t *depot) {
  if (depot->cold_count == 0) return 0;
  if (depot->cold_due > 0) {
    depot->cold_due -= 1;
    note_due(-1);
  }
  return depot->cold[--depot->cold_count];
}

static void put_among_warm(depot_t *depot, cck_stack_t *stack) {
  if ((CCK_STACK_SMALLEST << stack->size_class) <= CCK_WARM_BYTES) {
    push(&depot->warm, stack);
    depot->warm_count += 1;
  } else {
    push(&depot->worn, stack);
    depot->worn_count += 1;
    note_due(1);
  }
}

// 0 if there is no memory for a list of so many.
static int reserve(depot_t *depot, size_t count) {
  if (count <= depot->cold_capacity) return 1;
  size_t capacity = depot->cold_capacity == 0 ? 1024 : depot->cold_capacity * 2;
  uintptr_t *grown = realloc(depot->cold, capacity * sizeof *grown);
  if (grown == NULL) return 0;
  depot->cold = grown;
  depot->cold_capacity = capacity;
  return 1;
}

void cck_depot_put(depot_t *depot, cck_stack_t *stack) {
  if (depot->warm_count + depot->worn_count < CCK_WARM_LIMIT
      // Room for those that are out (M3), too. Without memory for the list, keeping the stack warm costs more, but
      // loses nothing.
      || !reserve(depot, depot->cold_count + depot->returning + 1)) {
    put_among_warm(depot, stack);
    return;
  }
  uintptr_t slot = (uintptr_t)stack->low - CCK_GUARD_SIZE;
  depot->cold[depot->cold_count++] = slot | stack->guard;
  depot->cold_due += 1;
  note_due(1);
}

size_t cck_depot_count(const depot_t *depot) {
  return depot->warm_count + depot->worn_count + depot->cold_count + depot->returning;
}

static int by_address(const void *one, const void *other) {
  uintptr_t a = *(const uintptr_t *)one, b = *(const uintptr_t *)other;
  return a < b ? -1 : a > b;
}

static char *address_of(uintptr_t slot) { return (char *)(slot & ~(uintptr_t)3); }

// Neighbours are told of as one: it costs a third. The guards between them stay (madvise(2), MADV_GUARD_INSTALL).
static void return_slots(uintptr_t *slots, size_t count, size_t size) {
  qsort(slots, count, sizeof *slots, by_address);
  cck_piece_t pieces[CCK_PIECES];
  size_t filled = 0;
  for (size_t i = 0; i < count;) {
    char *start = address_of(slots[i]);
    char *end = start + CCK_GUARD_SIZE + size;
    for (i += 1; i < count && address_of(slots[i]) == end; i++) end += CCK_GUARD_SIZE + size;
    pieces[filled++] = (cck_piece_t){start + CCK_GUARD_SIZE, (size_t)(end - start) - CCK_GUARD_SIZE};
    if (filled == CCK_PIECES || i == count) {
      cck_advise(pieces, filled, MADV_DONTNEED);
      filled = 0;
    }
  }
}

// Gives the memory of up to `most` of the due cold ones back, mostly the longest free first. Returns how many it were.
static size_t return_cold(depot_t *depot, size_t size, size_t most) {
  size_t count = depot->cold_due < most ? depot->cold_due : most;
  uintptr_t few[CCK_PIECES];
  uintptr_t *slots = count <= CCK_PIECES ? few : malloc(count * sizeof *slots);
  if (slots == NULL) {
    slots = few;
    count = CCK_PIECES;
  }
  size_t first = depot->cold_count - depot->cold_due;
  for (size_t i = 0; i < count; i++) slots[i] = depot->cold[first + i];
  // The newest fill the gap, as far as there are any behind it: to move up all would take longer the more there are.
  size_t behind = depot->cold_count - first - count;
  size_t moved = behind < count ? behind : count;
  for (size_t i = 0; i < moved; i++) {
    depot->cold[first + i] = depot->cold[depot->cold_count - moved + i];
  }
  depot->cold_count -= count;
  depot->cold_due -= count;
  depot->returning += count;
  note_due(-(ptrdiff_t)count);
  pthread_mutex_unlock(&cck_stack_lock);
  return_slots(slots, count, size);
  pthread_mutex_lock(&cck_stack_lock);
  depot->returning -= count;
  for (size_t i = 0; i < count; i++) {
    // In front of those that are due. `put` has kept room.
    size_t place = depot->cold_count - depot->cold_due;
    depot->cold[depot->cold_count++] = depot->cold[place];
    depot->cold[place] = slots[i];
  }
  if (slots != few) free(slots);
  return count;
}

// The same for the worn ones, CCK_PIECES at a time.
static size_t return_worn(depot_t *depot, size_t size, size_t most) {
  cck_stack_t *stacks[CCK_PIECES];
  cck_piece_t pieces[CCK_PIECES];
  size_t count = 0, filled = 0;
  while (depot->worn != NULL && count < CCK_PIECES && count < most) {
    cck_stack_t *stack = pop(&depot->worn);
    stacks[count++] = stack;
    // Its canary would go, too.
    if (stack->guard == CCK_GUARD_CANARY) continue;
    pieces[filled++] = (cck_piece_t){stack->low, size - CCK_WARM_BYTES};
  }
  depot->worn_count -= count;
  depot->returning += count;
  note_due(-(ptrdiff_t)count);
  pthread_mutex_unlock(&cck_stack_lock);
  cck_advise(pieces, filled, MADV_DONTNEED);
  pthread_mutex_lock(&cck_stack_lock);
  depot->returning -= count;
  depot->warm_count += count;
  for (size_t i = 0; i < count; i++) push(&depot->warm, stacks[i]);
  return count;
}

static void return_some(depot_t *depot, uint32_t size_class, size_t most) {
  size_t size = CCK_STACK_SMALLEST << size_class;
  while (most > 0 && depot->cold_due > 0) most -= return_cold(depot, size, most);
  while (most > 0 && depot->worn_count > 0) most -= return_worn(depot, size, most);
}

void cck_depot_return_batch(depot_t *depot, uint32_t size_class) {
  size_t size = CCK_STACK_SMALLEST << size_class;
  size_t batch = BATCH_BYTES / size > CCK_PIECES ? CCK_PIECES : BATCH_BYTES / size;
  size_t due = depot->cold_due + depot->worn_count;
  if (due > 0 && due >= batch) return_some(depot, size_class, due);
}

void cck_stack_return_memory(size_t most) {
  pthread_mutex_lock(&cck_stack_lock);
  for (uint32_t i = 0; i < CCK_STACK_CLASSES && most > 0; i++) {
    depot_t *depot = &cck_depots[i];
    size_t due = depot->cold_due + depot->worn_count;
    size_t part = due < most ? due : most;
    return_some(depot, i, part);
    most -= part;
  }
  pthread_mutex_unlock(&cck_stack_lock);
}
