// SPDX-License-Identifier: Apache-2.0

// The C library's own contexts; each switch asks the kernel for the signal mask.

#include <sys/mman.h>
#include <ucontext.h>

#include "harness.hpp"

using namespace harness;

static ucontext_t caller, callee;
static long rounds, limit, value;
static bool ended;

static std::vector<char> &stack() {
  static std::vector<char> memory(small_stack);
  return memory;
}

static void prepare(ucontext_t &context, void *low, std::size_t size, void (*body)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = low;
  context.uc_stack.ss_size = size;
  context.uc_link = &caller;
  makecontext(&context, body, 0);
}

static Outcome switches(long count) {
  rounds = 0;
  prepare(callee, stack().data(), stack().size(), [] {
    for (;;) {
      rounds++;
      swapcontext(&callee, &caller);
    }
  });
  for (long i = 0; i < count / 2; i++) swapcontext(&caller, &callee);
  return rounds;
}

static Outcome generator_values(long count) {
  limit = count;
  ended = false;
  prepare(callee, stack().data(), stack().size(), [] {
    for (long number = 0; number < limit; number++) {
      value = number;
      swapcontext(&callee, &caller);
    }
    ended = true;
  });
  long sum = 0;
  for (;;) {
    swapcontext(&caller, &callee);
    if (ended) return sum;
    sum += value;
  }
}

static Outcome joins(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) {
    limit = number;
    prepare(callee, stack().data(), stack().size(), [] { value = limit; });
    swapcontext(&caller, &callee);
    sum += value;
  }
  return sum;
}

static std::vector<ucontext_t> all;
static std::size_t current;

static Outcome idle(long count) {
  auto number = std::size_t(count);
  all.resize(number);
  rounds = 0;
  Memory before;
  Stopwatch watch;
  auto memory = static_cast<char *>(mmap(nullptr, number * small_stack, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) fail("no address space");
  for (current = 0; current < number; current++) {
    prepare(all[current], memory + current * small_stack, small_stack, [] {
      swapcontext(&all[current], &caller);
      rounds++;
    });
    swapcontext(&caller, &all[current]);
  }
  auto elapsed = watch.elapsed();
  Memory after;
  Stopwatch ending;
  for (current = 0; current < number; current++) swapcontext(&caller, &all[current]);
  Outcome outcome(rounds);
  outcome.elapsed = elapsed;
  after.add_growth(outcome, before, count);
  outcome.extras.emplace_back("end_ns", double(ending.elapsed().wall) / double(count));
  outcome.note = "no guard pages; the contexts are allocated before";
  munmap(memory, number * small_stack);
  return outcome;
}

int main(int argc, char **argv) {
  return run("ucontext",
             {
                 {"switch", switches},
                 {"generator", generator_values},
                 {"launch-join", joins},
                 {"idle", idle, 1'000'000},
             },
             argc, argv);
}
