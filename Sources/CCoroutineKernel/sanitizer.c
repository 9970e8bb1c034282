// SPDX-License-Identifier: Apache-2.0
#include "cck_sanitizer.h"

#include "cck_thread.h"

#if defined(__APPLE__)
#define WEAK __attribute__((weak_import))
#else
#define WEAK __attribute__((weak))
#endif

#if defined(__clang__)
#define UNINSTRUMENTED __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define UNINSTRUMENTED __attribute__((noinline, no_sanitize_address, no_sanitize_thread))
#endif

extern void *__tsan_get_current_fiber(void) WEAK;
extern void *__tsan_create_fiber(unsigned flags) WEAK;
extern void __tsan_destroy_fiber(void *fiber) WEAK;
extern void __tsan_switch_to_fiber(void *fiber, unsigned flags) WEAK;
extern void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size) WEAK;
extern void __sanitizer_finish_switch_fiber(
    void *fake_stack, const void **old_bottom, size_t *old_size) WEAK;
extern void __asan_unpoison_memory_region(const volatile void *address, size_t size) WEAK;

int cck_instrumented = 0;

__attribute__((constructor)) static void find_sanitizers(void) {
  cck_instrumented = __tsan_switch_to_fiber != NULL || __sanitizer_start_switch_fiber != NULL;
}

int cck_sanitizer_is_tsan(void) { return __tsan_switch_to_fiber != NULL; }

// Before the jump: both runtimes learn where we go. The target finds out who came from `thread`.
UNINSTRUMENTED static void announce(cck_context_t *save, cck_context_t *load, int last) {
  cck_thread_t *thread = cck_thread_current();
  thread->switch_from = save;
  thread->switch_to = load;
  if (__sanitizer_start_switch_fiber != NULL) {
    __sanitizer_start_switch_fiber(
        last ? NULL : &save->asan_fake_stack, load->stack_low, load->stack_size);
  }
  if (__tsan_switch_to_fiber != NULL) {
    save->tsan_fiber = __tsan_get_current_fiber();
    // Flag 0 makes the switch itself a synchronisation, which is what a scheduler's hand-over is.
    __tsan_switch_to_fiber(load->tsan_fiber, 0);
  }
}

// After the jump: the side stack of whoever runs now is switched on, and the bounds of the stack that
// was left, which only the runtime knows for a thread's own stack, are kept for the way back.
UNINSTRUMENTED static void arrive(cck_context_t *self) {
  if (__sanitizer_finish_switch_fiber != NULL) {
    cck_context_t *from = cck_thread_current()->switch_from;
    __sanitizer_finish_switch_fiber(
        self->asan_fake_stack, &from->stack_low, &from->stack_size);
  }
}

UNINSTRUMENTED void *cck_context_switch_instrumented(
    cck_context_t *save, cck_context_t *load, void *argument) {
  announce(save, load, 0);
  argument = cck_context_switch_bare(save, load, argument);
  arrive(save);
  return argument;
}

UNINSTRUMENTED static void enter_instrumented(void *argument) {
  cck_context_t *self = cck_thread_current()->switch_to;
  arrive(self);
  ((cck_entry_t)self->entry_function)(argument);
}

UNINSTRUMENTED cck_entry_t cck_sanitizer_new_context(cck_context_t *context, cck_entry_t entry) {
  context->entry_function = (void *)entry;
  if (__tsan_create_fiber != NULL) context->tsan_fiber = __tsan_create_fiber(0);
  // The last frames of the stack's former user never returned, so the surroundings of their variables
  // are still forbidden ground.
  if (__asan_unpoison_memory_region != NULL) {
    __asan_unpoison_memory_region(context->stack_low, context->stack_size);
  }
  return enter_instrumented;
}

UNINSTRUMENTED void cck_sanitizer_leave(cck_context_t *dead, cck_context_t *load) {
  announce(dead, load, 1);
}

UNINSTRUMENTED void cck_sanitizer_retire(cck_context_t *context) {
  if (__tsan_destroy_fiber != NULL && context->tsan_fiber != NULL) {
    __tsan_destroy_fiber(context->tsan_fiber);
    context->tsan_fiber = NULL;
  }
}
