// SPDX-License-Identifier: Apache-2.0
#include "cck_thread.h"

#include <pthread.h>

#include "cck_overflow.h"
#include "cck_stack.h"

__thread cck_thread_t cck_thread_record;

#if !(defined(__x86_64__) && defined(__linux__))
__attribute__((noinline)) cck_thread_t *cck_thread_current(void) {
  cck_thread_t *record = &cck_thread_record;
  // Without this the compiler may mark the function pure and merge calls across a switch.
  __asm__ volatile("" : "+r"(record) : : "memory");
  return record;
}
#endif

static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void at_thread_exit(void *record) {
  cck_thread_t *thread = record;
  thread->registered = 0;
  cck_stack_release_cache(thread);
  cck_overflow_uninstall(thread);
}

static void make_exit_key(void) { pthread_key_create(&exit_key, at_thread_exit); }

void cck_thread_register(cck_thread_t *thread) {
  pthread_once(&exit_key_once, make_exit_key);
  pthread_setspecific(exit_key, thread);
  thread->registered = 1;
}
