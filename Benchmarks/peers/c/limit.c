// SPDX-License-Identifier: Apache-2.0

// What the machine itself costs: a switch inside one function, a cache line and a futex between two
// threads, a touched page under a guard. Nothing of this could be used as it is.

#define _GNU_SOURCE
#include "harness.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

struct context {
  void *stack, *frame, *resume;
};

// Stack, frame and place are stored in `from`; all else the compiler saves, as far as it is in use.
static inline __attribute__((always_inline)) void switch_to(struct context *from,
                                                            struct context *to) {
  __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                   "movq %%rsp, 0(%0)\n\t"
                   "movq %%rbp, 8(%0)\n\t"
                   "movq %%rax, 16(%0)\n\t"
                   "movq 0(%1), %%rsp\n\t"
                   "movq 8(%1), %%rbp\n\t"
                   "jmpq *16(%1)\n"
                   "1:\n\t"
                   : "+D"(from), "+S"(to)
                   :
                   : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                     "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                     "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

static struct context here, there;
static long rounds, value;
static char stack[65536] __attribute__((aligned(16)));

static void prepare(void (*body)(void)) {
  // As after a call: eight bytes off a multiple of sixteen.
  there.stack = stack + sizeof stack - 8;
  there.frame = NULL;
  there.resume = (void *)body;
}

static void count_rounds(void) {
  for (;;) {
    rounds++;
    switch_to(&there, &here);
  }
}

static struct outcome switches(long count) {
  rounds = 0;
  prepare(count_rounds);
  for (long i = 0; i < count / 2; i++) switch_to(&here, &there);
  return result(rounds);
}

static void count_up(void) {
  for (long number = 0;; number++) {
    value = number;
    switch_to(&there, &here);
  }
}

static struct outcome generator_values(long count) {
  prepare(count_up);
  long sum = 0;
  for (long i = 0; i < count; i++) {
    switch_to(&here, &there);
    sum += value;
  }
  return result(sum);
}

#endif

// One cache line: 0 is empty, else a number and one.
static _Atomic long line __attribute__((aligned(64)));
static long total;

static void *spin_producer(void *count) {
  for (long number = 0; number < *(long *)count; number++) {
    atomic_store_explicit(&line, number + 1, memory_order_release);
    while (atomic_load_explicit(&line, memory_order_acquire) != 0) PAUSE();
  }
  return NULL;
}

// A message is one hand-over forth and one back: the producer waits until it has been taken.
static struct outcome spin(long count) {
  pthread_t other;
  atomic_store(&line, 0);
  pthread_create(&other, NULL, spin_producer, &count);
  long sum = 0, number;
  for (long i = 0; i < count; i++) {
    while ((number = atomic_load_explicit(&line, memory_order_acquire)) == 0) PAUSE();
    sum += number - 1;
    atomic_store_explicit(&line, 0, memory_order_release);
  }
  pthread_join(other, NULL);
  return result(sum);
}

static _Atomic unsigned turn __attribute__((aligned(64)));

static void sleep_until(unsigned wanted) {
  while (atomic_load_explicit(&turn, memory_order_acquire) != wanted)
    syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - wanted, NULL, NULL, 0);
}

static void give(unsigned next) {
  atomic_store_explicit(&turn, next, memory_order_release);
  syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *futex_producer(void *count) {
  for (long number = 0; number < *(long *)count; number++) {
    sleep_until(0);
    total = number;
    give(1);
  }
  return NULL;
}

static struct outcome futex(long count) {
  pthread_t other;
  atomic_store(&turn, 0);
  pthread_create(&other, NULL, futex_producer, &count);
  long sum = 0;
  for (long i = 0; i < count; i++) {
    sleep_until(1);
    sum += total;
    give(0);
  }
  pthread_join(other, NULL);
  return result(sum);
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

// One page touched in each of so many stacks, with a guard below where the kernel has cheap ones.
static struct outcome idle(long count) {
  const size_t size = 65536, page = 4096;
  struct memory before = memory_now();
  struct stopwatch watch = start_stopwatch();
  char *all = mmap(NULL, (size_t)count * size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) fail("no address space");
  madvise(all, (size_t)count * size, MADV_NOHUGEPAGE);
  bool guards = true;
  long touched = 0;
  for (long i = 0; i < count; i++) {
    char *low = all + (size_t)i * size;
    if (guards && madvise(low, page, MADV_GUARD_INSTALL) != 0) guards = false;
    low[size - 64] = 1;
    touched++;
  }
  struct outcome outcome = result(touched);
  outcome.elapsed = elapsed_since(watch);
  outcome.has_elapsed = true;
  add_growth(&outcome, before, count);
  outcome.note = guards ? "a page and a guard each; nothing runs" : "a page each; no guards here";
  munmap(all, (size_t)count * size);
  return outcome;
}

static const struct row rows[] = {
#if defined(__x86_64__)
    {"switch", switches, 0, false},
    {"generator", generator_values, 0, false},
#endif
    {"handover-2", futex, 0, false},
    {"idle", idle, 1000000, false},
};

static const struct row spin_rows[] = {{"handover-2", spin, 0, false}};

// Called by the name `spin` it is a peer of its own: two threads that never sleep.
int main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  if (!strcmp(slash ? slash + 1 : argv[0], "spin")) return run("spin", spin_rows, 1, argc, argv);
  return run("limit", rows, sizeof rows / sizeof *rows, argc, argv);
}
