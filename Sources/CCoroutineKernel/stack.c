// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_stack.h"

#include "advice.h"
#include "depot.h"
#include "slab.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#ifndef MAP_STACK
#define MAP_STACK 0
#endif

#define FIRST_SLAB ((size_t)64 << 20)
#define LARGEST_SLAB ((size_t)1 << 30)
#define HEAP_RESERVE ((size_t)128 << 20)
#define MADVISE_GUARD_INSTALL 102
#define CANARY 0x5afe57ac5afe57acull

// Where new slots of a size come from.
typedef struct source {
  cck_slab_t *slab;
  size_t next_slot;
  size_t guarded_slots; // slots of the slab that have their guard
} source_t;

pthread_mutex_t cck_stack_lock = PTHREAD_MUTEX_INITIALIZER;
static source_t sources[CCK_STACK_CLASSES];
cck_slab_t cck_slabs[CCK_SLAB_LIMIT];
size_t cck_slab_count;
static size_t slots_made;
static size_t bytes_mapped;
static size_t protected_guards;
static uint32_t guard_kind = CCK_GUARD_ADVICE;
static uint32_t failures_to_fake;

static size_t size_of_class(uint32_t size_class) { return CCK_STACK_SMALLEST << size_class; }

static size_t mapping_limit(void) {
  static size_t limit;
  if (limit == 0) {
    limit = 65530;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file != NULL) {
      unsigned long value;
      if (fscanf(file, "%lu", &value) == 1) limit = value;
      fclose(file);
    }
  }
  return limit;
}

// Stacks must not take the last of the address space: the heap needs some to report the shortage, and
// Swift ends the program when malloc fails.
static int leaves_room(void) {
  void *probe =
      mmap(NULL, HEAP_RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return 0;
  munmap(probe, HEAP_RESERVE);
  return 1;
}

static cck_slab_t *add_slab(uint32_t size_class) {
  if (cck_slab_count == CCK_SLAB_LIMIT) {
    errno = ENOMEM;
    return NULL;
  }
  size_t stride = size_of_class(size_class) + CCK_GUARD_SIZE;
  size_t previous = sources[size_class].slab == NULL
                        ? 0
                        : sources[size_class].slab->stride * sources[size_class].slab->count;
  size_t wanted = previous == 0 ? FIRST_SLAB : previous * 2;
  if (wanted > LARGEST_SLAB) wanted = LARGEST_SLAB;
  for (;;) {
    size_t count = wanted / stride;
    if (count == 0) count = 1;
    void *base = mmap(
        NULL, count * stride, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base != MAP_FAILED && !leaves_room()) {
      munmap(base, count * stride);
      base = MAP_FAILED;
      errno = ENOMEM;
    }
    if (base != MAP_FAILED) {
#if defined(MADV_NOHUGEPAGE)
      // A huge page would commit thirty stacks at the first touch of one.
      madvise(base, count * stride, MADV_NOHUGEPAGE);
#endif
      cck_slab_t *slab = &cck_slabs[cck_slab_count];
      *slab = (cck_slab_t){base, stride, count, size_class, 0};
      __atomic_store_n(&cck_slab_count, cck_slab_count + 1, __ATOMIC_RELEASE);
      bytes_mapped += count * stride;
      return slab;
    }
    if (count == 1) return NULL;
    wanted /= 4;  // address space is short: try with less
  }
}

static void install_canary(char *low) {
  uint64_t *words = (uint64_t *)low;
  for (int i = 0; i < 8; i++) words[i] = CANARY;
}

// Guards the source's next slot, and as many after it as are in use before it, up to a batch.
static int guard_next_slot(source_t *source, uint32_t *kind) {
  const cck_slab_t *slab = source->slab;
  size_t index = source->next_slot;
  char *slot = slab->base + index * slab->stride;
  if (guard_kind == CCK_GUARD_ADVICE) {
#if defined(__linux__)
    if (index >= source->guarded_slots) {
      size_t count = index == 0 ? 1 : index < CCK_PIECES ? index : CCK_PIECES;
      if (count > slab->count - index) count = slab->count - index;
      cck_piece_t pieces[CCK_PIECES];
      for (size_t i = 0; i < count; i++) {
        pieces[i] = (cck_piece_t){slot + i * slab->stride, CCK_GUARD_SIZE};
      }
      if (cck_advise(pieces, count, MADVISE_GUARD_INSTALL) == 0) source->guarded_slots = index + count;
    }
    if (index < source->guarded_slots) {
      *kind = CCK_GUARD_ADVICE;
      return 0;
    }
    if (errno == ENOMEM) return -1;
#endif
    guard_kind = CCK_GUARD_PROTECT;
  }
  if (guard_kind == CCK_GUARD_PROTECT) {
    // Each protected guard makes two mappings out of one.
    if ((protected_guards + 1) * 2 < mapping_limit() / 5 * 4
        && mprotect(slot, CCK_GUARD_SIZE, PROT_NONE) == 0) {
      protected_guards += 1;
      *kind = CCK_GUARD_PROTECT;
      return 0;
    }
    guard_kind = CCK_GUARD_CANARY;
    fprintf(
        stderr,
        "swift-coroutines: warning: after %zu guarded stacks the system has no mappings left "
        "(vm.max_map_count is %zu). Further stacks are checked by a canary when they are given "
        "back, so an overflow there is found late. Raise vm.max_map_count, or use Linux 6.13.\n",
        protected_guards, mapping_limit());
  }
  *kind = CCK_GUARD_CANARY;
  return 0;
}

static cck_stack_t *record_of(const cck_slab_t *slab, size_t index) {
  char *end = slab->base + (index + 1) * slab->stride;
  return (cck_stack_t *)(end - CCK_RECORD_SIZE - (index % CCK_COLOURS) * CCK_COLOUR_STEP);
}

static cck_stack_t *format(cck_slab_t *slab, size_t index, uint32_t kind) {
  cck_stack_t *stack = record_of(slab, index);
  stack->low = slab->base + index * slab->stride + CCK_GUARD_SIZE;
  stack->size_class = slab->size_class;
  stack->guard = kind;
  stack->label = NULL;
  memset(stack->exclusivity, 0, sizeof(stack->exclusivity));
  cck_stack_occupy(stack, NULL);
  if (kind == CCK_GUARD_CANARY) install_canary(stack->low);
  return stack;
}

static cck_slab_t *slab_of(const void *address, size_t *index) {
  size_t count = __atomic_load_n(&cck_slab_count, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < count; i++) {
    cck_slab_t *slab = &cck_slabs[i];
    const char *byte = address;
    if (byte >= slab->base && byte < slab->base + slab->count * slab->stride) {
      *index = (size_t)(byte - slab->base) / slab->stride;
      return slab;
    }
  }
  return NULL;
}

// Takes a slot that has never been used, or whose memory was returned.
static cck_stack_t *acquire_cold(uint32_t size_class) {
  if (failures_to_fake > 0) {
    failures_to_fake -= 1;
    errno = ENOMEM;
    return NULL;
  }
  uintptr_t slot = cck_depot_take_slot(&cck_depots[size_class]);
  if (slot != 0) {
    size_t index;
    cck_slab_t *slab = slab_of((void *)slot, &index);
    // Returning the memory leaves the guard in place, so just the record is written again. What kind
    // of guard it has was noted in the lowest bits of the slot's address.
    return format(slab, index, (uint32_t)(slot & 3));
  }
  source_t *source = &sources[size_class];
  if (source->slab == NULL || source->next_slot == source->slab->count) {
    cck_slab_t *slab = add_slab(size_class);
    if (slab == NULL) return NULL;
    source->slab = slab;
    source->next_slot = 0;
    source->guarded_slots = 0;
  }
  uint32_t kind;
  size_t index = source->next_slot;
  if (guard_next_slot(source, &kind) != 0) return NULL;
  source->next_slot += 1;
  slots_made += 1;
  cck_stack_t *stack = format(source->slab, index, kind);
  __atomic_store_n(&source->slab->used, source->next_slot, __ATOMIC_RELEASE);
  return stack;
}

cck_stack_t *cck_stack_acquire_slowly(cck_thread_t *thread, uint32_t size_class) {
  if (!thread->registered) cck_thread_register(thread);
  if (size_class >= CCK_STACK_CLASSES) {
    errno = EINVAL;
    return NULL;
  }
  pthread_mutex_lock(&cck_stack_lock);
  cck_stack_t *stack = cck_depot_take(&cck_depots[size_class]);
  if (stack == NULL) stack = acquire_cold(size_class);
  pthread_mutex_unlock(&cck_stack_lock);
  return stack;
}

static void check_canary(cck_stack_t *stack) {
  const uint64_t *words = stack->low;
  for (int i = 0; i < 8; i++) {
    if (words[i] == CANARY) continue;
    fprintf(
        stderr,
        "swift-coroutines: fatal error: the stack of coroutine #%llu%s%s (%zu KiB) overflowed; it "
        "had no guard page, so memory below it is damaged. Give it more with "
        "launch(stackSize:).\n",
        (unsigned long long)stack->identifier, stack->label == NULL ? "" : " ",
        stack->label == NULL ? "" : stack->label, size_of_class(stack->size_class) >> 10);
    abort();
  }
}

void cck_stack_release_slowly(cck_thread_t *thread, cck_stack_t *stack) {
  if (!thread->registered) cck_thread_register(thread);
  if (stack->guard == CCK_GUARD_CANARY) check_canary(stack);
  uint32_t size_class = stack->size_class;
  depot_t *depot = &cck_depots[size_class];
  pthread_mutex_lock(&cck_stack_lock);
  cck_depot_put(depot, stack);
  while (thread->free_count[size_class] > CCK_STACK_THREAD_LIMIT / 2) {
    cck_stack_t *extra = thread->free_stacks[size_class];
    thread->free_stacks[size_class] = extra->next;
    thread->free_count[size_class] -= 1;
    cck_depot_put(depot, extra);
  }
  if (!thread->returns_memory) cck_depot_return_batch(depot, size_class);
  pthread_mutex_unlock(&cck_stack_lock);
}

void cck_stack_release_cache(cck_thread_t *thread) {
  pthread_mutex_lock(&cck_stack_lock);
  for (uint32_t i = 0; i < CCK_STACK_CLASSES; i++) {
    while (thread->free_stacks[i] != NULL) {
      cck_stack_t *stack = thread->free_stacks[i];
      thread->free_stacks[i] = stack->next;
      cck_depot_put(&cck_depots[i], stack);
    }
    thread->free_count[i] = 0;
    cck_depot_return_batch(&cck_depots[i], i);
  }
  pthread_mutex_unlock(&cck_stack_lock);
}

cck_stack_t *cck_stack_whose_guard(const void *address) {
  size_t index;
  cck_slab_t *slab = slab_of(address, &index);
  if (slab == NULL) return NULL;
  char *slot = slab->base + index * slab->stride;
  if ((const char *)address >= slot + CCK_GUARD_SIZE) return NULL;
  return record_of(slab, index);
}

cck_stack_t *cck_stack_around(const void *address) {
  size_t index;
  const cck_slab_t *slab = slab_of(address, &index);
  return slab == NULL ? NULL : record_of(slab, index);
}

void cck_stack_each(
    const void *home, void *context, void (*visit)(void *, void *, cck_stack_t *)) {
  size_t count = __atomic_load_n(&cck_slab_count, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < count; i++) {
    const cck_slab_t *slab = &cck_slabs[i];
    size_t used = __atomic_load_n(&slab->used, __ATOMIC_ACQUIRE);
    for (size_t index = 0; index < used; index++) {
      // A record whose memory has been given back reads as zero.
      cck_stack_t *stack = record_of(slab, index);
      // The home was noted before the coroutine, so a coroutine of another home is seen with that home. What
      // this home's own thread has noted is known to whoever has the turn.
      void *fiber = __atomic_load_n(&stack->fiber, __ATOMIC_ACQUIRE);
      if (fiber == NULL || __atomic_load_n(&stack->home, __ATOMIC_RELAXED) != home) continue;
      visit(context, fiber, stack);
    }
  }
}

static void count_one(void *context, void *fiber, cck_stack_t *stack) {
  (void)fiber, (void)stack;
  *(size_t *)context += 1;
}

size_t cck_stack_count(const void *home) {
  size_t count = 0;
  cck_stack_each(home, &count, count_one);
  return count;
}

size_t cck_stack_high_water(const cck_stack_t *stack) {
  const uint64_t *word = stack->low;
  const uint64_t *end = (const uint64_t *)stack;
  if (stack->guard == CCK_GUARD_CANARY) word += 8;
  while (word < end && *word == 0) word++;
  return (size_t)((const char *)end - (const char *)word);
}

cck_stack_statistics_t cck_stack_statistics(void) {
  pthread_mutex_lock(&cck_stack_lock);
  cck_stack_statistics_t result = {slots_made, 0, cck_stacks_due, cck_stacks_due_since, bytes_mapped, guard_kind};
  for (uint32_t i = 0; i < CCK_STACK_CLASSES; i++) {
    result.slots_free += cck_depot_count(&cck_depots[i]);
  }
  pthread_mutex_unlock(&cck_stack_lock);
  return result;
}

void cck_stack_fail_next(uint32_t count) {
  pthread_mutex_lock(&cck_stack_lock);
  failures_to_fake = count;
  pthread_mutex_unlock(&cck_stack_lock);
}

void cck_stack_limit_guard(uint32_t guard) {
  pthread_mutex_lock(&cck_stack_lock);
  guard_kind = guard;
  pthread_mutex_unlock(&cck_stack_lock);
}
