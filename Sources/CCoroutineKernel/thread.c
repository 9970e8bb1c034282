// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cck_overflow.h"
#include "cck_signal.h"
#include "cck_stack.h"
#include "cck_trace.h"

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

static void (*exit_hook)(cck_thread_t *thread);

void cck_thread_on_exit(void (*hook)(cck_thread_t *thread)) {
  __atomic_store_n(&exit_hook, hook, __ATOMIC_RELEASE);
}

static void at_thread_exit(void *record) {
  cck_thread_t *thread = record;
  thread->registered = 0;
  void (*hook)(cck_thread_t *) = __atomic_load_n(&exit_hook, __ATOMIC_ACQUIRE);
  if (hook != NULL) hook(thread);
  cck_trace_leave(thread);
  cck_stack_release_cache(thread);
  cck_overflow_uninstall(thread);
  cck_thread_note_thrown(NULL);
}

void cck_thread_note_thrown(const char *text) {
  cck_thread_t *thread = cck_thread_current();
  char *old = thread->thrown;
  // A handler of this thread's reads it, and finds a whole text or none.
  __atomic_store_n(&thread->thrown, NULL, __ATOMIC_RELAXED);
  free(old);
  if (text == NULL) return;
  char *copy = strdup(text);
  __atomic_store_n(&thread->thrown, copy, __ATOMIC_RELEASE);
}

static void make_exit_key(void) { pthread_key_create(&exit_key, at_thread_exit); }

#if defined(__linux__)
extern void *__libc_stack_end;

static const void *end_of_own_stack(void) {
  // The C library would have to read the process's mappings for the first thread's.
  if (cck_thread_is_main()) return __libc_stack_end;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return NULL;
  void *low = NULL;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return (char *)low + size;
}
#elif defined(__APPLE__)
static const void *end_of_own_stack(void) { return pthread_get_stackaddr_np(pthread_self()); }
#else
static const void *end_of_own_stack(void) { return NULL; }
#endif

void cck_thread_register(cck_thread_t *thread) {
  thread->stack_end = end_of_own_stack();
  pthread_once(&exit_key_once, make_exit_key);
  pthread_setspecific(exit_key, thread);
  thread->registered = 1;
}

typedef struct start {
  void *context;
  void (*body)(void *);
  char name[16];
} start_t;

#if defined(__linux__)
enum { UNKNOWN, FIRST, ANOTHER };

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int forks_are_watched;

static void after_fork_in_child(void) { cck_thread_current()->place = UNKNOWN; }

static void watch_forks(void) { forks_are_watched = pthread_atfork(NULL, NULL, after_fork_in_child) == 0; }

// A thread's place never changes in its process. A child has one thread, which is its first, and has a copy of the
// record of the one that forked: FIRST stays true in it, and ANOTHER is forgotten by a handler of forks, which is there
// before any record says so. Records of the parent's other threads are nobody's in the child, and a thread that begins
// there has a record of zeros, as any. (Children of vfork and _Fork, which run no such handlers, may call nothing of
// this before they are another program.)
int cck_thread_is_main(void) {
  cck_thread_t *thread = cck_thread_current();
  if (CCK_UNLIKELY(thread->place == UNKNOWN)) {
    const int is_first = (pid_t)syscall(SYS_gettid) == getpid();
    if (!is_first) {
      pthread_once(&fork_once, watch_forks);
      if (!forks_are_watched) return 0;
    }
    thread->place = is_first ? FIRST : ANOTHER;
  }
  return thread->place == FIRST;
}
#else
int cck_thread_is_main(void) { return pthread_main_np(); }
#endif

void cck_thread_name(char *name, size_t size) {
  name[0] = 0;
#if defined(__linux__) || defined(__APPLE__)
  if (pthread_getname_np(pthread_self(), name, size) != 0) name[0] = 0;
#endif
}

static pthread_once_t heap_once = PTHREAD_ONCE_INIT;

static void steady_heap(void) {
#if defined(__GLIBC__)
  // Volatile: the compiler may leave out an allocation that nobody uses.
  void *volatile block = malloc((size_t)2 << 20);
  free(block);
#endif
}

void cck_steady_heap(void) { pthread_once(&heap_once, steady_heap); }

// A thread inherits what its maker blocks, and workers of libdispatch block nearly everything. Those who look at
// threads do it with this signal (frames.c), which is ignored unless somebody handles it.
static void take_looks(void) {
  sigset_t looks;
  sigemptyset(&looks);
  sigaddset(&looks, SIGURG);
  pthread_sigmask(SIG_UNBLOCK, &looks, NULL);
}

static void *run_thread(void *argument) {
  start_t start = *(start_t *)argument;
  free(argument);
#if defined(__APPLE__)
  pthread_setname_np(start.name);
#elif defined(__linux__)
  pthread_setname_np(pthread_self(), start.name);
#endif
  take_looks();
  start.body(start.context);
  return NULL;
}

static uint32_t failures_to_fake;

void cck_thread_fail_next(uint32_t count) {
  __atomic_store_n(&failures_to_fake, count, __ATOMIC_RELAXED);
}

static int fakes_failure(void) {
  uint32_t left = __atomic_load_n(&failures_to_fake, __ATOMIC_RELAXED);
  while (left > 0) {
    if (__atomic_compare_exchange_n(
            &failures_to_fake, &left, left - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return 1;
    }
  }
  return 0;
}

int cck_thread_start(const char *name, void *context, void (*body)(void *)) {
  if (fakes_failure()) return EAGAIN;
  start_t *start = calloc(1, sizeof(start_t));
  if (start == NULL) return ENOMEM;
  start->context = context;
  start->body = body;
  strncpy(start->name, name, sizeof(start->name) - 1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int status = pthread_create(&thread, &attributes, run_thread, start);
  pthread_attr_destroy(&attributes);
  if (status != 0) free(start); else cck_signal_keep_up();
  return status;
}
