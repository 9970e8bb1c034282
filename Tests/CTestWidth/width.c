// SPDX-License-Identifier: Apache-2.0
//
// How many tests run at a time, unless the environment or `--no-parallel` says so: two for each processor.
//
// Swift Testing begins all tests at once, thousands of tasks that take turns on a thread for each processor. A test that
// starts a process of its own learns of its end when all others have had theirs, minutes later; until then the thread
// that watches processes asks without a pause for those that have ended, and takes a processor to itself. In this package
// that was more than half of the processor time of a run. Swift Testing 6.3 reads how wide to go here, before its first
// test.

#include "CTestWidth.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void limit_test_width(void) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  char width[24];
  snprintf(width, sizeof width, "%ld", processors < 1 ? 2 : 2 * processors);
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, /* overwrite: */ 0);
}
