// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "CCoroutinesIO.h"

const int cio_signal_hang_up = SIGHUP;
const int cio_signal_interrupt = SIGINT;
const int cio_signal_quit = SIGQUIT;
const int cio_signal_kill = SIGKILL;
const int cio_signal_user1 = SIGUSR1;
const int cio_signal_user2 = SIGUSR2;
const int cio_signal_pipe = SIGPIPE;
const int cio_signal_alarm = SIGALRM;
const int cio_signal_terminate = SIGTERM;
const int cio_signal_child = SIGCHLD;
const int cio_signal_go_on = SIGCONT;
const int cio_signal_stop = SIGSTOP;
const int cio_signal_window_change = SIGWINCH;

enum { last_signal = 64 };

/// Which signals have come and not been taken: one bit each.
static _Atomic uint64_t pending;
/// The ends of a pipe that says that some have; made once, and open for good.
static int ends[2] = {-1, -1};
static pid_t owner;
static struct sigaction before[last_signal + 1];

/// Calls nothing but what signal-safety(7) allows.
static void handle(int number) {
  int code = errno;
  // A child that has been forked, and runs no program of its own yet, has the same pipe.
  if (getpid() == owner) {
    atomic_fetch_or(&pending, (uint64_t)1 << (number - 1));
    // A full pipe says it as well.
    ssize_t written = write(ends[1], "", 1);
    (void)written;
  }
  errno = code;
}

long cio_signals_start(void) {
  if (ends[0] < 0) {
    int made[2];
    long result = cio_pipe(made);
    if (result < 0) return result;
    ends[1] = made[1];
    ends[0] = made[0];
    owner = getpid();
  }
  return ends[0];
}

long cio_signal_watch(int number) {
  // After a fault the instruction would be run again, for ever; that of a stack's guard has its handler.
  if (number < 1 || number > last_signal || number == SIGSEGV || number == SIGBUS ||
      number == SIGFPE || number == SIGILL || number == SIGTRAP)
    return -EINVAL;
  struct sigaction action = {0};
  action.sa_handler = handle;
  // Coroutines' stacks may be small; where there is another one for signals, it is used.
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, &before[number]) < 0 ? -(long)errno : 0;
}

void cio_signal_unwatch(int number) {
  struct sigaction now;
  // Whoever has changed it meanwhile wants it as it is.
  if (sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == handle)
    sigaction(number, &before[number], NULL);
}

uint64_t cio_signals_take(void) {
  char bytes[64];
  // In this order: one that comes in between is taken now, and says so once more.
  while (read(ends[0], bytes, sizeof bytes) > 0) {
  }
  return atomic_exchange(&pending, 0);
}
