// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - The handler is in place until the signal has come and the thread that serves it has been started.
// - While the thread has not been started, at most one signal of the timer's is under way: it is set in the handler
//   only, for once. So none comes when the handler is gone.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cck_parker.h"
#include "cck_thread.h"
#include "moment.h"
#include "report.h"

// The number; 0 until all the rest is set.
static int expected;
static pid_t owner;
static struct sigaction previous;
static void (*server)(void);
static int has_come;

// Written in the handler before the thread is woken, and read by that once the flag says so.
static cck_sight_t interrupted;
static int has_interrupted;

// The thread that serves the signal. It is wanted in a process with more threads than one; whoever makes it from
// ABSENT to STARTED starts it.
enum { ABSENT, STARTED };
static int thread = ABSENT;

static void run_server(void *context) {
  (void)context;
  server();
}

// Returns 0, or the system's error number.
static int start_thread(void) {
  int absent = ABSENT;
  if (!__atomic_compare_exchange_n(&thread, &absent, STARTED, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return 0;
  int error = cck_thread_start("dump", NULL, run_server);
  if (error != 0) __atomic_store_n(&thread, ABSENT, __ATOMIC_RELEASE);
  return error;
}

static int is_started(void) { return __atomic_load_n(&thread, __ATOMIC_ACQUIRE) == STARTED; }

#if defined(__linux__)

#include <sys/syscall.h>

extern char __libc_single_threaded __attribute__((weak));

// The system calls themselves: the C library has them in a library of their own before version 2.34.
static int timer;
static int tries;

static int is_alone(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

// True if the thread can be started in the handler.
static int can_be_late(int number) {
  if (!cck_moment_prepare() || !is_alone()) return 0;
  struct sigevent event;
  memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
}

static void try_later(void) {
  enum { often = 1000 };  // about a second
  tries++;
  if (tries == often) {
    cck_put(
        "swift-coroutines: no dump yet. The thread is inside the C library, or in code that this calls back, where "
        "no thread can be started to take one. It is tried again until the thread is elsewhere.\n");
  }
  struct itimerspec when = {.it_value = {.tv_nsec = tries < often ? 1000000 : 10000000}};
  syscall(SYS_timer_settime, timer, 0, &when, NULL);
}

// The library's threads sleep on such a word, so a handler may wake one.
static cck_parker_t sleeper;

static int prepare(void) {
  cck_parker_initialize(&sleeper);
  return 0;
}

static void wake(void) { cck_parker_wake(&sleeper); }

void cck_signal_wait(void) {
  while (!__atomic_load_n(&has_come, __ATOMIC_SEQ_CST)) {
    cck_parker_announce(&sleeper);
    if (!__atomic_load_n(&has_come, __ATOMIC_SEQ_CST)) {
      cck_parker_sleep(&sleeper, -1);
    } else {
      cck_parker_retract(&sleeper);
    }
  }
}

static int is_of_timer(const siginfo_t *info) { return info->si_code == SI_TIMER; }

#else

static int is_alone(void) { return 0; }

static int can_be_late(int number) {
  (void)number;
  return 0;
}

static void try_later(void) {}

// Elsewhere a parker has a mutex, which no handler may take.
static int ends[2];

static int prepare(void) {
  if (pipe(ends) != 0) return errno;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return 0;
}

static void wake(void) {
  ssize_t written = write(ends[1], "", 1);
  (void)written;
}

void cck_signal_wait(void) {
  char byte;
  while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
  }
}

static int is_of_timer(const siginfo_t *info) {
  (void)info;
  return 0;
}

#endif

static void handle(int number, siginfo_t *info, void *machine_context) {
  int saved_errno = errno;
  int is_second = __atomic_exchange_n(&has_come, 1, __ATOMIC_SEQ_CST) && !is_of_timer(info);
  // A child that was forked has the handler, but neither the thread nor the timer.
  if (!is_second && !is_of_timer(info) && cck_moment_is_waiting(machine_context)) {
    cck_frames_of_interrupted(machine_context, &interrupted);
    __atomic_store_n(&has_interrupted, interrupted.identifier != 0, __ATOMIC_RELEASE);
  }
  if (is_second || getpid() != owner) {
    sigaction(number, &previous, NULL);
    raise(number);  // it is blocked, so it comes when the handler has returned
  } else if (is_started() || (cck_moment_is_free(machine_context) && start_thread() == 0)) {
    sigaction(number, &previous, NULL);
    wake();
  } else {
    try_later();
  }
  errno = saved_errno;
}

const cck_sight_t *cck_signal_interrupted(void) {
  return __atomic_load_n(&has_interrupted, __ATOMIC_ACQUIRE) ? &interrupted : NULL;
}

void cck_signal_keep_up(void) {
  if (__atomic_load_n(&expected, __ATOMIC_ACQUIRE) != 0 && !is_started() && !is_alone()) start_thread();
}

// What a process has that does nothing about the signal: the system's way, or, where Swift's crash reports are on,
// their handler, which deals with illegal instructions as well.
static int is_unhandled(void) {
  struct sigaction crash;
  if (previous.sa_handler == SIG_DFL) return 1;
  return previous.sa_handler != SIG_IGN && cck_crash_find(SIGILL, &crash) == 0
         && crash.sa_handler == previous.sa_handler;
}

int cck_signal_expect(int number, void (*serve)(void)) {
  if (expected != 0) return EBUSY;
  if (sigaction(number, NULL, &previous) != 0) return errno;
  if (!is_unhandled()) return EBUSY;
  int error = prepare();
  if (error != 0) return error;
  cck_frames_prepare();
  owner = getpid();
  server = serve;
  if (!can_be_late(number)) error = start_thread();
  if (error != 0) return error;
  __atomic_store_n(&expected, number, __ATOMIC_RELEASE);
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? 0 : errno;
}
