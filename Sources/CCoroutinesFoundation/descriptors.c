// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CCoroutinesFoundation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef __linux__
static int close_on_exec(int descriptor) {
  if (descriptor >= 0) (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}
#endif

int ccf_pipe(int ends[2]) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC);
#else
  if (pipe(ends) != 0) return -1;
  close_on_exec(ends[0]);
  close_on_exec(ends[1]);
  return 0;
#endif
}

int ccf_accept(int listener) {
#ifdef __linux__
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
#else
  return close_on_exec(accept(listener, NULL, NULL));
#endif
}

int ccf_open_temporary(char *path) {
#ifdef __linux__
  return mkostemp(path, O_CLOEXEC);
#else
  return close_on_exec(mkstemp(path));
#endif
}
