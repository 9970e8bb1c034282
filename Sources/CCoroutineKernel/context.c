// SPDX-License-Identifier: Apache-2.0
#include "cck_context.h"

#include "cck_overflow.h"
#include "cck_sanitizer.h"

#if defined(CCK_CONTEXT_INLINE)

extern void cck_entry(void);

static void prepare(cck_context_t *context, void *stack_top, cck_entry_t entry) {
  // The entry stub makes a call, so the stack pointer starts on a 16-byte boundary.
  context->sp = (void *)((uintptr_t)stack_top & ~(uintptr_t)15);
  context->pc = (void *)cck_entry;
#if defined(__x86_64__)
  context->fp = (void *)entry;
#else
  context->fp = NULL;
  context->base = (void *)entry;
#endif
}

#else

void cck_context_prepare(cck_context_t *context, void *stack_low, void *stack_top, cck_entry_t entry);

#endif

void cck_context_make(
    cck_context_t *context, void *stack_low, void *stack_top, cck_entry_t entry) {
  context->tsan_fiber = NULL;
  context->asan_fake_stack = NULL;
  context->stack_low = stack_low;
  context->stack_size = (size_t)((char *)stack_top - (char *)stack_low);
  if (cck_instrumented) entry = cck_sanitizer_new_context(context, entry);
#if defined(CCK_CONTEXT_INLINE)
  prepare(context, stack_top, entry);
#else
  cck_context_prepare(context, stack_low, stack_top, entry);
#endif
}

void cck_context_retire(cck_context_t *context) {
  if (cck_instrumented) cck_sanitizer_retire(context);
}

void cck_context_resumed_after_end(void) {
  cck_print_error(
      "Fatal error: a switch to a flow of control that has finished: its body has returned, and its stack "
      "holds nothing to go on with. Make a new one.\n");
  __builtin_trap();
}
