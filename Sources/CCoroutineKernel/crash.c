// SPDX-License-Identifier: Apache-2.0
//
// A crash inside a coroutine: one line tells in which, then whoever was there before us deals with the signal, be
// it the Swift backtracer, a sanitizer, a handler of the program's or the system.
//
// A program that installs a handler of its own after this replaces ours and may pass signals on to it.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <ucontext.h>
#endif

#include "cck_frames.h"
#include "cck_layout.h"
#include "cck_thread.h"
#include "report.h"

typedef struct crash {
  int number;
  const char *name;
  struct sigaction previous;
} crash_t;

static crash_t crashes[] = {
    {.number = SIGSEGV, .name = "SIGSEGV"}, {.number = SIGBUS, .name = "SIGBUS"},
    {.number = SIGILL, .name = "SIGILL"},   {.number = SIGTRAP, .name = "SIGTRAP"},
    {.number = SIGABRT, .name = "SIGABRT"}, {.number = SIGFPE, .name = "SIGFPE"},
};
enum { crash_kinds = sizeof(crashes) / sizeof(crashes[0]) };

static pthread_once_t once = PTHREAD_ONCE_INIT;

// Only async-signal-safe calls from here on.

// The stack of ours that the interrupted code ran on, or null.
static const cck_stack_t *stack_of(const void *machine_context) {
#if defined(__linux__) && defined(__x86_64__)
  const ucontext_t *context = machine_context;
  return cck_stack_around((const void *)context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
  const ucontext_t *context = machine_context;
  return cck_stack_around((const void *)context->uc_mcontext.sp);
#else
  (void)machine_context;
  return NULL;
#endif
}

// The stack of the coroutine that the thread runs, or null.
static const cck_stack_t *stack_of_coroutine(const cck_thread_t *thread) {
#if defined(CCK_CONTEXT_INLINE)  // the offset is for words of 64 bits
  if (thread->fiber == NULL) return NULL;
  const cck_stack_t *stack;
  memcpy(&stack, (const char *)thread->fiber + CCK_FIBER_STACK, sizeof(stack));
  return stack;
#else
  (void)thread;
  return NULL;
#endif
}

static void report(const crash_t *crash, const void *machine_context) {
  const cck_stack_t *stack = stack_of(machine_context);
  const cck_thread_t *thread = cck_thread_current();
  const cck_stack_t *coroutine = stack_of_coroutine(thread);
  if (stack == NULL && coroutine == NULL) {
    const char *thrown = __atomic_load_n(&thread->thrown, __ATOMIC_ACQUIRE);
    if (thrown == NULL) return;
    cck_put("\nswift-coroutines: The error that runBlocking threw last was one that nobody looked at: ");
    cck_put(thrown);
    cck_put("\n");
    return;
  }
  cck_put("\nswift-coroutines: ");
  cck_put(crash->name);
  cck_put(" in ");
  if (stack != NULL && stack->identifier == 0) {
    cck_put_owner(stack);
    if (coroutine != NULL) cck_put(" that is run by ");
  }
  if (coroutine == NULL && stack->identifier != 0) coroutine = stack;
  if (coroutine != NULL) {
    cck_put_owner(coroutine);
    cck_put_launch(", launched at ", coroutine, "");
  }
  cck_put("\n");
}

// True if the signal does not come again by itself when the handler returns.
static int must_be_sent_again(int number, const siginfo_t *info) {
  // 0 and less: sent by somebody. A trap may be behind the instruction that made it.
  return info->si_code <= 0 || number == SIGABRT || number == SIGTRAP;
}

// It is blocked, so it comes when the handler has returned.
static void send_again(int number, siginfo_t *info) {
#if defined(__linux__)
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), cck_thread_number(), number, info) == 0) return;
#else
  (void)info;
#endif
  raise(number);
}

static void handle(int number, siginfo_t *info, void *machine_context) {
  int saved_errno = errno;
  for (int i = 0; i < crash_kinds; i++) {
    const crash_t *crash = &crashes[i];
    if (crash->number != number) continue;
    // With the previous handler back in place the faulting instruction runs again. This comes first, and the signal
    // is let in, because the program's memory may be damaged: if the report itself crashes, that handler has it.
    sigaction(number, &crash->previous, NULL);
    sigset_t this_one, before;
    sigemptyset(&this_one);
    sigaddset(&this_one, number);
    pthread_sigmask(SIG_UNBLOCK, &this_one, &before);
    int is_fault = number == SIGSEGV || number == SIGBUS;
    if (!is_fault || !cck_overflow_report(info->si_addr)) report(crash, machine_context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  if (must_be_sent_again(number, info)) send_again(number, info);
  errno = saved_errno;
}

static void install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < crash_kinds; i++) {
    // The handler may come before `sigaction` has returned: it must find what was there.
    sigaction(crashes[i].number, NULL, &crashes[i].previous);
    sigaction(crashes[i].number, &action, NULL);
  }
}

void cck_crash_install(void) {
  // The reference keeps the table for debuggers in programs from which what nobody uses is left out.
  __asm__ volatile("" : : "r"(cck_debug_layout));
  pthread_once(&once, install);
}

int cck_crash_find(int number, struct sigaction *action) {
  if (sigaction(number, NULL, action) != 0) return -1;
  if (action->sa_sigaction != handle) return 0;
  for (int i = 0; i < crash_kinds; i++) {
    if (crashes[i].number == number) *action = crashes[i].previous;
  }
  return 0;
}
