// SPDX-License-Identifier: Apache-2.0
//
// wait, waitpid, wait3, wait4, waitid: asked without waiting, again and again.
//
// Between two questions the coroutine waits for the process's descriptor if it is one process and its end
// that are asked for; for any child, or for stops, time decides: nothing tells without taking the answer
// away from others.
#include "gate.h"

#include <sys/resource.h>
#include <sys/syscall.h>

static int open_process(pid_t process) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  return (int)syscall(SYS_pidfd_open, process, 0);
#else
  (void)process;
  return -1;
#endif
}

// Parks until it is worth asking again. 0, or the error to fail with.
static int await_child(cbc_frame_t *frame, int descriptor, int64_t *step) {
  if (descriptor >= 0) return cbc_await(frame, descriptor, CBC_READING, CBC_FOREVER, 0);
  return cbc_back_off(frame, step);
}

static pid_t wait_parking(
    cbc_frame_t *frame, pid_t process, int *status, int options, struct rusage *usage) {
  if (options & WNOHANG) return (pid_t)CBC_PASS(frame, REAL(wait4)(process, status, options, usage));
  int descriptor = -1;
  int64_t step = 0;
  int error = 0;
  pid_t found;
  while ((found = REAL(wait4)(process, status, options | WNOHANG, usage)) == 0) {
    if (descriptor < 0 && step == 0 && process > 0 && options == 0) {
      descriptor = open_process(process);
    }
    error = await_child(frame, descriptor, &step);
    if (error != 0) break;
  }
  if (found < 0) error = errno;
  if (descriptor >= 0) REAL(close)(descriptor);
  return (pid_t)(error == 0 ? cbc_end(frame, found) : cbc_fail(frame, error));
}

pid_t CBC_NAME(wait)(int *status) {
  CBC_ROUTE(wait, wait_parking(&frame, -1, status, 0, NULL), status);
}
CBC_INTERPOSE(wait)

pid_t CBC_NAME(waitpid)(pid_t process, int *status, int options) {
  CBC_ROUTE(
      waitpid, wait_parking(&frame, process, status, options, NULL), process, status, options);
}
CBC_INTERPOSE(waitpid)

pid_t CBC_NAME(wait3)(int *status, int options, struct rusage *usage) {
  CBC_ROUTE(wait3, wait_parking(&frame, -1, status, options, usage), status, options, usage);
}
CBC_INTERPOSE(wait3)

pid_t CBC_NAME(wait4)(pid_t process, int *status, int options, struct rusage *usage) {
  CBC_ROUTE(
      wait4, wait_parking(&frame, process, status, options, usage), process, status, options,
      usage);
}
CBC_INTERPOSE(wait4)

static int waitid_parking(
    cbc_frame_t *frame, idtype_t type, id_t identifier, siginfo_t *information, int options) {
  if (options & WNOHANG) {
    return CBC_PASS(frame, REAL(waitid)(type, identifier, information, options));
  }
  siginfo_t own;
  siginfo_t *answer = information != NULL ? information : &own;
  int is_end_of_one = type == P_PID && (options & ~(WEXITED | WNOWAIT)) == 0;
  int descriptor = -1;
  int64_t step = 0;
  int error = 0;
  while (1) {
    answer->si_pid = 0;
    if (REAL(waitid)(type, identifier, answer, options | WNOHANG) != 0) {
      error = errno;
      break;
    }
    if (answer->si_pid != 0) break;
    if (descriptor < 0 && step == 0 && is_end_of_one) descriptor = open_process((pid_t)identifier);
    error = await_child(frame, descriptor, &step);
    if (error != 0) break;
  }
  if (descriptor >= 0) REAL(close)(descriptor);
  return (int)(error == 0 ? cbc_end(frame, 0) : cbc_fail(frame, error));
}

int CBC_NAME(waitid)(idtype_t type, id_t identifier, siginfo_t *information, int options) {
  CBC_ROUTE(
      waitid, waitid_parking(&frame, type, identifier, information, options), type, identifier,
      information, options);
}
CBC_INTERPOSE(waitid)
