// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_overflow.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cck_stack.h"

// The Swift runtime's crash handler runs on this stack too and needs some room.
#define ALTERNATE_STACK_SIZE ((size_t)64 << 10)

// Stands in `alternate_stack` of threads that had a signal stack before we came.
static char foreign;

static struct sigaction previous_segv;
static struct sigaction previous_bus;
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;

// Only async-signal-safe calls from here on.
static void put(const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

void cck_print_error(const char *text) { put(text); }

static void put_number(unsigned long long value) {
  char digits[24];
  char *end = digits + sizeof(digits) - 1;
  *end = 0;
  do {
    *--end = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  put(end);
}

static void report(const cck_stack_t *stack) {
  size_t kibibytes = (CCK_STACK_SMALLEST << stack->size_class) >> 10;
  put("\nFatal error: stack overflow in ");
  put(stack->identifier == 0 ? "a generator" : "coroutine #");
  if (stack->identifier != 0) put_number(stack->identifier);
  if (stack->label != NULL) {
    put(" \"");
    put(stack->label);
    put("\"");
  }
  put(": all ");
  put_number(kibibytes);
  put(" KiB of its stack are used. Either a recursion does not end, or it needs more: ");
  put(stack->identifier == 0 ? "Generator(stackSize: .kibibytes("
                             : "launch(stackSize: .kibibytes(");
  put_number(kibibytes * 4 > CCK_STACK_LARGEST >> 10 ? CCK_STACK_LARGEST >> 10 : kibibytes * 4);
  put(")) { … }\n");
}

static void handle(int number, siginfo_t *info, void *machine_context) {
  (void)machine_context;
  const cck_stack_t *stack = cck_stack_whose_guard(info->si_addr);
  if (stack != NULL) report(stack);
  // With the previous handler back in place the faulting instruction runs again: the Swift
  // backtracer, a sanitizer or the system's default then deals with it.
  sigaction(number, number == SIGBUS ? &previous_bus : &previous_segv, NULL);
}

static void install_handler(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_segv);
  sigaction(SIGBUS, &action, &previous_bus);
}

void cck_overflow_install_slowly(cck_thread_t *thread) {
  pthread_once(&handler_once, install_handler);
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
