// SPDX-License-Identifier: Apache-2.0
//
// Stacks: reserved in slabs, guarded, committed by use, kept hot in last-in-first-out order.
//
// Memory of one slot, low addresses first:
//
//   | guard (16 KiB) | stack ............ grows down ←| colour | cck_stack_t |
//
// The record lies in the stack's first page, so an idle coroutine costs one page and no second one
// for bookkeeping. `colour` shifts the start by up to 1,920 bytes: page-aligned stacks would otherwise
// compete for the same few cache sets.
//
// Guards are installed with MADV_GUARD_INSTALL (Linux 6.13), which needs no mapping of its own; where
// the kernel lacks it, with mprotect while mappings last (each splits the slab in two), and past
// four fifths of vm.max_map_count by a canary that is checked when a stack is given back.
#ifndef CCK_STACK_H
#define CCK_STACK_H

#include "cck_base.h"
#include "cck_context.h"
#include "cck_thread.h"

/// Bytes of the smallest stack; class k has this shifted left by k.
#define CCK_STACK_SMALLEST_BYTES 16384
#define CCK_STACK_SMALLEST ((size_t)CCK_STACK_SMALLEST_BYTES)
/// Bytes of the largest stack.
#define CCK_STACK_LARGEST (CCK_STACK_SMALLEST << (CCK_STACK_CLASSES - 1))

enum { CCK_GUARD_ADVICE = 0, CCK_GUARD_PROTECT = 1, CCK_GUARD_CANARY = 2 };

/// The record at the top of a stack.
typedef struct cck_stack {
  cck_context_t context;             ///< Where what runs on it goes on.
  struct cck_stack *_Nullable next;  ///< Next in a list of free stacks.
  void *_Nonnull low;                ///< Lowest usable address; the guard ends here.
  uint32_t size_class;               ///< Index of its size.
  uint32_t guard;                    ///< One of CCK_GUARD_….
  uint64_t identifier;               ///< Of the coroutine or generator on it, for the overflow report.
  const char *_Nullable label;       ///< Its name, or null; outlives the use of the stack.
  uintptr_t exclusivity[8];          ///< The Swift runtime's list of open accesses, while switched out.
  void *_Nullable home;              ///< Whose coroutines it serves; see cck_stack_occupy.
  void *_Nullable fiber;             ///< The coroutine on it, or null.
} cck_stack_t;

/// Notes whose coroutine is on a stack, or, with null, that there is none any more.
///
/// All coroutines that have begun are found by this (cck_stack_each), at the cost of two stores for each.
CCK_INLINE void cck_stack_occupy(cck_stack_t *_Nonnull stack, void *_Nullable fiber) {
  __atomic_store_n(&stack->fiber, fiber, __ATOMIC_RELEASE);
}

/// Notes which home's coroutines it serves from now on; nobody is on it.
CCK_INLINE void cck_stack_serve(cck_stack_t *_Nonnull stack, void *_Nonnull home) {
  __atomic_store_n(&stack->home, home, __ATOMIC_RELAXED);
}

/// The class of the smallest stack with at least `size` bytes, or CCK_STACK_CLASSES if none has.
CCK_INLINE uint32_t cck_stack_class(size_t size) {
  uint32_t index = 0;
  while (index < CCK_STACK_CLASSES && (CCK_STACK_SMALLEST << index) < size) index++;
  return index;
}

cck_stack_t *_Nullable cck_stack_acquire_slowly(
    cck_thread_t *_Nonnull thread, uint32_t size_class);
void cck_stack_release_slowly(cck_thread_t *_Nonnull thread, cck_stack_t *_Nonnull stack);

/// A stack of the class, from this thread's hot list if it has one. Null, with errno set, when the
/// system has no memory or address space left.
CCK_INLINE cck_stack_t *_Nullable cck_stack_acquire(
    cck_thread_t *_Nonnull thread, uint32_t size_class) {
  cck_stack_t *stack = thread->free_stacks[size_class];
  if (CCK_UNLIKELY(stack == NULL)) return cck_stack_acquire_slowly(thread, size_class);
  thread->free_stacks[size_class] = stack->next;
  thread->free_count[size_class] -= 1;
  return stack;
}

/// 1 if the thread has a stack of the class in its hot list.
CCK_INLINE int cck_stack_is_at_hand(const cck_thread_t *_Nonnull thread, uint32_t size_class) {
  return thread->free_stacks[size_class] != NULL;
}

/// Number of free stacks of a class that a thread keeps before it gives half of them to the others.
#define CCK_STACK_THREAD_LIMIT 256

/// Gives a stack back. Nothing may run on it any more.
CCK_INLINE void cck_stack_release(cck_thread_t *_Nonnull thread, cck_stack_t *_Nonnull stack) {
  uint32_t size_class = stack->size_class;
  if (CCK_UNLIKELY(
          thread->free_count[size_class] >= CCK_STACK_THREAD_LIMIT
          || stack->guard == CCK_GUARD_CANARY || !thread->registered)) {
    cck_stack_release_slowly(thread, stack);
    return;
  }
  stack->next = thread->free_stacks[size_class];
  thread->free_stacks[size_class] = stack;
  thread->free_count[size_class] += 1;
}

/// Gives a thread's hot stacks to the others, at its end.
void cck_stack_release_cache(cck_thread_t *_Nonnull thread);

/// Free stacks whose memory is due to the system (M1 in depot.h), and since when there have been any.
extern size_t cck_stacks_due;
extern int64_t cck_stacks_due_since;

/// How long they may wait, in nanoseconds, where no loop has nothing to do.
#define CCK_LONGEST_DUE ((int64_t)1000000000)

/// 1 if there are any.
CCK_INLINE int cck_stack_memory_is_due(void) {
  return CCK_UNLIKELY(__atomic_load_n(&cck_stacks_due, __ATOMIC_RELAXED) != 0);
}

/// 1 if they have waited for too long.
CCK_INLINE int cck_stack_memory_is_overdue(int64_t now) {
  return cck_stack_memory_is_due()
         && now - __atomic_load_n(&cck_stacks_due_since, __ATOMIC_RELAXED) >= CCK_LONGEST_DUE;
}

/// Gives the memory of so many of them back, or of all if there are fewer: 0.3 µs each among neighbours, 0.8 alone.
void cck_stack_return_memory(size_t most);

/// Whether an address lies in the guard of one of our stacks; returns that stack's record.
cck_stack_t *_Nullable cck_stack_whose_guard(const void *_Nonnull address);

/// The record of the stack that an address lies on, or null if that is none of ours. Safe in handlers of signals.
cck_stack_t *_Nullable cck_stack_around(const void *_Nonnull address);

/// Calls `visit` with each coroutine that a home has on a stack, and with that stack.
///
/// To be called with the home's turn: then they are all there, and none ends meanwhile. Looks at the records
/// of all stacks there are: some nanoseconds each.
void cck_stack_each(
    const void *_Nonnull home,
    void *_Nullable context,
    void (*_Nonnull visit)(
        void *_Nullable context, void *_Nonnull fiber, cck_stack_t *_Nonnull stack));

/// Number of coroutines that a home has on stacks; from any thread, as it was a moment ago.
size_t cck_stack_count(const void *_Nonnull home);

/// Bytes of the stack that have been in use at some time since its memory was last clean.
size_t cck_stack_high_water(const cck_stack_t *_Nonnull stack);

/// Bytes from the lowest usable address to the record.
CCK_INLINE size_t cck_stack_usable_size(const cck_stack_t *_Nonnull stack) {
  return (size_t)((const char *)stack - (const char *)stack->low);
}

/// What the pool holds, for tests and diagnostics.
typedef struct cck_stack_statistics {
  size_t slots_made;   ///< Stacks carved out of slabs so far.
  size_t slots_free;   ///< Of these, the ones in the shared lists.
  size_t slots_due;    ///< Of these, the ones whose memory is due to the system …
  int64_t due_since;   ///< … and when the first of them came, by the monotonic clock.
  size_t bytes_mapped; ///< Address space reserved.
  uint32_t guard;      ///< How the newest stack is guarded.
} cck_stack_statistics_t;
cck_stack_statistics_t cck_stack_statistics(void);

/// Test hook: the next `count` requests that would need new memory fail as if there were none.
void cck_stack_fail_next(uint32_t count);

/// Test hook: guard new stacks as if the kernel knew only this way and those after it.
void cck_stack_limit_guard(uint32_t guard);

#endif
