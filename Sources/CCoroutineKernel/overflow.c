// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_overflow.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cck_stack.h"
#include "report.h"

// The Swift runtime's crash handler runs on this stack too and needs some room.
#define ALTERNATE_STACK_SIZE ((size_t)64 << 10)

// Stands in `alternate_stack` of threads that had a signal stack before we came.
static char foreign;

// The call that takes the size of a stack.
static const char *with_more_stack(const cck_stack_t *stack) {
  if (stack->identifier == 0) return "Generator(stackSize: .kibibytes(";
  // What `runBlocking` runs has this name.
  if (stack->label != NULL && strcmp(stack->label, "main") == 0) return "runBlocking(stackSize: .kibibytes(";
  return "launch(stackSize: .kibibytes(";
}

int cck_overflow_report(const void *address) {
  const cck_stack_t *stack = cck_stack_whose_guard(address);
  if (stack == NULL) return 0;
  size_t kibibytes = (CCK_STACK_SMALLEST << stack->size_class) >> 10;
  cck_put("\nFatal error: stack overflow in ");
  cck_put_owner(stack);
  cck_put(": all ");
  cck_put_number(kibibytes);
  cck_put(" KiB of its stack are used. Either a recursion does not end, or it needs more: ");
  cck_put(with_more_stack(stack));
  cck_put_number(kibibytes * 4 > CCK_STACK_LARGEST >> 10 ? CCK_STACK_LARGEST >> 10 : kibibytes * 4);
  cck_put(")) { … }\n");
  if (stack->identifier != 0) cck_put_launch("It was launched at ", stack, ".\n");
  return 1;
}

void cck_overflow_install_slowly(cck_thread_t *thread) {
  cck_crash_install();
  if (!thread->registered) cck_thread_register(thread);
  stack_t current;
  if (sigaltstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE)) {
    thread->alternate_stack = &foreign;
    return;
  }
  void *memory = malloc(ALTERNATE_STACK_SIZE);
  if (memory == NULL) {
    thread->alternate_stack = &foreign;  // An overflow will go unreported; running is better.
    return;
  }
  stack_t alternate;
  memset(&alternate, 0, sizeof(alternate));
  alternate.ss_sp = memory;
  alternate.ss_size = ALTERNATE_STACK_SIZE;
  sigaltstack(&alternate, NULL);
  thread->alternate_stack = memory;
}

void cck_overflow_uninstall(cck_thread_t *thread) {
  if (thread->alternate_stack == NULL || thread->alternate_stack == &foreign) return;
  stack_t disabled;
  memset(&disabled, 0, sizeof(disabled));
  disabled.ss_flags = SS_DISABLE;
  sigaltstack(&disabled, NULL);
  free(thread->alternate_stack);
  thread->alternate_stack = NULL;
}
