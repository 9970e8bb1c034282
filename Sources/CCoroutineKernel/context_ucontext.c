// SPDX-License-Identifier: Apache-2.0
//
// The switch for every architecture without one of its own, on <ucontext.h>. Each switch is a
// system call, because the signal mask is switched too.
//
// A suspended context's sp points at a `suspended_t` that lives on the context's own stack: in the
// frame of the switch that suspended it, or, until a new context first runs, at the top of its
// stack. So nothing is allocated, and whoever frees the stack frees the record. The new context's
// body starts below its record, which is not used again once it has been entered.

// <ucontext.h> is hidden on some systems without this. It precedes every other include.
#if defined(__APPLE__) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE 1
#endif

#include "cck_context.h"

#if defined(CCK_CONTEXT_UCONTEXT)

#include <ucontext.h>

#if defined(__APPLE__)
// Deprecated there without a replacement.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

void cck_context_prepare(
    cck_context_t *_Nonnull context, void *_Nonnull stack_low, void *_Nonnull stack_top,
    cck_entry_t _Nonnull entry);

typedef struct suspended {
  ucontext_t registers;
  void *_Nullable argument;     // What the switch that resumes it hands over.
  cck_entry_t _Nullable entry;  // Of a new context only.
} suspended_t;

// makecontext passes ints, so the address comes in two halves.
static void start(unsigned high, unsigned low) {
  suspended_t *record = (suspended_t *)(uintptr_t)((uint64_t)high << 32 | low);
  record->entry(record->argument);
  __builtin_trap();
}

void cck_context_prepare(
    cck_context_t *context, void *stack_low, void *stack_top, cck_entry_t entry) {
  // A whole cache line, which is at least what any architecture's register image asks for.
  uintptr_t address = ((uintptr_t)stack_top - sizeof(suspended_t)) & ~(uintptr_t)63;
  suspended_t *record = (suspended_t *)address;
  if (getcontext(&record->registers) != 0) __builtin_trap();
  record->registers.uc_stack.ss_sp = stack_low;
  record->registers.uc_stack.ss_size = (size_t)(address - (uintptr_t)stack_low);
  record->registers.uc_link = NULL;
  record->entry = entry;
  makecontext(
      &record->registers, (void (*)(void))start, 2, (unsigned)((uint64_t)address >> 32),
      (unsigned)((uint64_t)address & 0xffffffffu));
  context->sp = record;
  context->fp = NULL;
  context->pc = NULL;
  context->base = NULL;
}

// SAFETY: `own` outlives the suspension, for this frame does not return before something switches
// back. Its address has escaped, so the argument is read afresh after that.
__attribute__((noinline)) void *cck_context_switch_bare(
    cck_context_t *save, cck_context_t *load, void *argument) {
  suspended_t own;
  suspended_t *target = load->sp;
  own.entry = NULL;
  target->argument = argument;
  save->sp = &own;
  if (swapcontext(&own.registers, &target->registers) != 0) __builtin_trap();
  return own.argument;
}

#endif
