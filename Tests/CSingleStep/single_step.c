// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CSingleStep.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)

#include <ucontext.h>

#include "../../Sources/CCoroutineKernel/include/cck_frames.h"
#include "../../Sources/CCoroutineKernel/midway.h"
#include "../../Sources/CCoroutineKernel/moment.h"

enum { TRAP_FLAG = 0x100 };

// Touched by the one thread only, in its handler or with no step under way.
static struct sigaction previous;
static int is_on;
static css_tally_t tally;

static void look(int signal, siginfo_t *info, void *machine) {
  (void)signal, (void)info;
  int saved_errno = errno;
  ucontext_t *context = machine;
  if (is_on) {
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    cck_sight_t sight;
    cck_frames_of_interrupted(machine, &sight);
    (void)cck_moment_is_free(machine);
    tally.looks++;
    tally.empty += sight.count == 0;
    tally.midway += cck_midway_to(machine) != NULL;
  } else {
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  }
  errno = saved_errno;
}

int css_begin(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, &previous) != 0) return errno;
  cck_frames_prepare();
  cck_moment_prepare();
  memset(&tally, 0, sizeof(tally));
  is_on = 1;
  return raise(SIGTRAP) == 0 ? 0 : errno;
}

css_tally_t css_end(void) {
  is_on = 0;
  __asm__ volatile("nop\n\tnop");  // the next look is the last
  sigaction(SIGTRAP, &previous, NULL);
  return tally;
}

#else

int css_begin(void) { return ENOTSUP; }

css_tally_t css_end(void) {
  css_tally_t tally;
  memset(&tally, 0, sizeof(tally));
  return tally;
}

#endif
