// SPDX-License-Identifier: Apache-2.0
//
// What the kernel keeps for each thread, and how it is found.
//
// The compiler may keep the address of a thread-local variable across a call, which is wrong as soon
// as that call can switch to a coroutine that comes back on another thread. So the record is found by
// volatile assembly where that is one or two instructions, and by an opaque call elsewhere.
#ifndef CCK_THREAD_H
#define CCK_THREAD_H

#include "cck_base.h"
#include "cck_context.h"

struct cck_stack;
struct cck_trace_ring;

/// Number of stack sizes that are pooled; see cck_stack.h.
#define CCK_STACK_CLASSES 16

/// Number of lists of spare objects of a thread.
#define CCK_SPARE_LISTS 4

/// How many more a thread keeps that may still be in use elsewhere; a power of two.
#define CCK_RECENT_OBJECTS 32

/// A list of memory for objects of one size; see SpareMemory.swift.
typedef struct {
  void *_Nullable first;  ///< Linked by what is behind the header of an object.
  uint32_t count;         ///< How many there are.
} cck_spare_memory_t;

/// One thread's record. Only its own thread reads or writes it.
typedef struct cck_thread {
  void *_Nullable fiber;  ///< The coroutine that runs now, or null.
  void *_Nullable home;   ///< The event loop or dispatch job that runs now, or null.
  void *_Nullable direct_home;  ///< The same, if wakes there need nobody's notice; null while they are recorded.
  uintptr_t kept;  ///< The home's places for references that are counted here, or 0.
  struct cck_stack *_Nullable free_stacks[CCK_STACK_CLASSES];  ///< Hot stacks, last in first out.
  uint32_t free_count[CCK_STACK_CLASSES];                      ///< How many of each.
  cck_context_t *_Nullable switch_from;  ///< Instrumented builds: who switches.
  cck_context_t *_Nullable switch_to;    ///< Instrumented builds: to whom.
  uint64_t next_identifier;              ///< The next coroutine made here gets this number …
  uint64_t last_identifier;              ///< … unless it is this one: then a new block is drawn.
  uint32_t random;                       ///< State of the thread's random numbers.
  uint32_t unbiased_round;               ///< The last round of L5 that it has gone through; see cck_lock.h.
  void *_Nullable alternate_stack;       ///< Signal stack that we installed, or null.
  const void *_Nullable stack_end;       ///< End of the thread's own stack, once registered; or null.
  int32_t number;                        ///< The system's number of it, once asked for; see cck_thread_number.
  int registered;                        ///< The thread-exit hook knows this record.
  int returns_memory;                    ///< It runs a loop that sees to M2; see depot.h.
  int place;                             ///< Its place in the process, once asked for; see cck_thread_is_main.
  void *_Nullable spare_objects[CCK_SPARE_LISTS];  ///< Lists of objects kept for reuse; their owner's.
  void *_Nullable recent_objects[CCK_RECENT_OBJECTS];  ///< A stack, whose oldest are overwritten.
  uint32_t recent_top;                   ///< Where the next one goes, modulo the length.
  uint32_t unbiased_left;                ///< How many locks of the round at hand are still to be made.
  cck_spare_memory_t promise_memory;     ///< Of promises that are gone.
  cck_spare_memory_t coroutine_memory;   ///< Of coroutines that ended before their handles went.
  uint32_t pool_loop;                    ///< Which loop of a pool its last launch from outside went to.
  const void *_Nullable last_told;       ///< The node whose loop was told last, a hint; see Home+Watch.swift.
  void *_Nullable observer;              ///< Checked builds: who is told of preemption points, or null.
  struct cck_trace_ring *_Nullable trace_ring;  ///< Where this thread records events; see cck_trace.h.
  void *_Nullable owed_home;  ///< The home that it has let nap on, and has still to wake; see Home+Nap.swift.
  int lets_nap;               ///< What it posts can wait until a nap is over.
  char *_Nullable thrown;  ///< What was thrown to code that may not catch it; see cck_thread_note_thrown.
} cck_thread_t;

extern __thread cck_thread_t cck_thread_record __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__) && defined(__linux__)

/// The calling thread's record.
CCK_INLINE cck_thread_t *_Nonnull cck_thread_current(void) {
  cck_thread_t *record;
  __asm__ volatile(
      "movq %%fs:0, %0\n\t"
      "addq cck_thread_record@gottpoff(%%rip), %0"
      : "=r"(record)
      :
      : "cc");
  return record;
}

#else

/// The calling thread's record.
cck_thread_t *_Nonnull cck_thread_current(void);

#endif

/// A random number for fair choices: xorshift (Marsaglia 2003), one state a thread.
CCK_INLINE uint32_t cck_thread_random(cck_thread_t *_Nonnull thread) {
  uint32_t value = thread->random;
  if (CCK_UNLIKELY(value == 0)) value = (uint32_t)((uintptr_t)thread >> 6) | 1;
  value ^= value << 13;
  value ^= value >> 17;
  value ^= value << 5;
  thread->random = value;
  return value;
}

/// Keeps a copy of a text about the error that the calling thread is about to throw to its caller, or, with null, forgets
/// the one before. Should nobody catch it, the report of the crash says it: Swift's own does not know the place.
void cck_thread_note_thrown(const char *_Nullable text);

/// Starts a detached thread that calls `body(context)`. Returns 0, or the system's error number.
int cck_thread_start(
    const char *_Nonnull name, void *_Nullable context, void (*_Nonnull body)(void *_Nullable));

/// Test hook: the next `count` threads are refused as if the system had none left.
void cck_thread_fail_next(uint32_t count);

/// Keeps the C library from giving the heap's last megabytes back to the system at every ebb.
///
/// A thousand coroutines that come and go are a few hundred kilobytes; by default glibc returns the
/// top of the heap from 128 KiB on, and each wave faults its pages in again (a third of the cost of a
/// launch). Freeing one block of 2 MiB makes glibc raise that limit to 4 MiB by its own rule
/// (mallopt(3), M_MMAP_THRESHOLD). No effect on other systems.
void cck_steady_heap(void);

/// 1 on the process's first thread; in a child that was forked, on the one that forked.
///
/// The system is asked once a thread: where a generator starts outside coroutines, the two calls that this takes would
/// be more than half of its cost.
int cck_thread_is_main(void);

/// Writes the calling thread's name, ended by a zero; nothing if it has none.
void cck_thread_name(char *_Nonnull name, size_t size);

/// Has `hook` called at the end of each registered thread, for those who keep things in its record.
void cck_thread_on_exit(void (*_Nonnull hook)(cck_thread_t *_Nonnull thread));

/// Makes sure that the thread's stacks are given back when it ends.
void cck_thread_register(cck_thread_t *_Nonnull thread);

#endif
