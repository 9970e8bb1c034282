// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cck_parker.h"
#include "report.h"

static int expected;
static pid_t owner;
static struct sigaction previous;

#if defined(__linux__)

static cck_parker_t sleeper;
static uint32_t has_come;

static int prepare(void) {
  cck_parker_initialize(&sleeper);
  return 0;
}

static void wake(void) {
  __atomic_store_n(&has_come, 1, __ATOMIC_SEQ_CST);
  cck_parker_wake(&sleeper);  // a system call, here
}

void cck_signal_wait(void) {
  while (__atomic_exchange_n(&has_come, 0, __ATOMIC_SEQ_CST) == 0) {
    cck_parker_announce(&sleeper);
    if (__atomic_load_n(&has_come, __ATOMIC_SEQ_CST) == 0) {
      cck_parker_sleep(&sleeper, -1);
    } else {
      cck_parker_retract(&sleeper);
    }
  }
}

#else

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

#endif

static void note(int number) {
  int saved_errno = errno;
  sigaction(number, &previous, NULL);
  // A child that was forked has the handler but not the thread.
  if (getpid() == owner) wake(); else raise(number);
  errno = saved_errno;
}

// What a process has that does nothing about the signal: the system's way, or, where Swift's crash reports are on,
// their handler, which deals with illegal instructions as well.
static int is_unhandled(void) {
  struct sigaction crash;
  if (previous.sa_handler == SIG_DFL) return 1;
  return previous.sa_handler != SIG_IGN && cck_crash_find(SIGILL, &crash) == 0
         && crash.sa_handler == previous.sa_handler;
}

int cck_signal_expect(int number) {
  if (expected != 0) return EBUSY;
  if (sigaction(number, NULL, &previous) != 0) return errno;
  if (!is_unhandled()) return EBUSY;
  int error = prepare();
  if (error != 0) return error;
  expected = number;
  owner = getpid();
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? 0 : errno;
}
