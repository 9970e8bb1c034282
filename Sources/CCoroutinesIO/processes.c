// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CCoroutinesIO.h"

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if defined(__APPLE__)
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

/// Has the child's standard stream be what was asked for.
static int place(
    posix_spawn_file_actions_t *actions, int stream, int descriptor, int *copy) {
  *copy = -1;
  switch (descriptor) {
    case cio_stream_inherited: return 0;
    case cio_stream_nothing:
      return posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0);
    case cio_stream_output: return posix_spawn_file_actions_adddup2(actions, 1, stream);
    default: break;
  }
  if (descriptor < 3) {
    // It would be overwritten by what comes before it.
    *copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (*copy < 0) return errno;
    descriptor = *copy;
  }
  return posix_spawn_file_actions_adddup2(actions, descriptor, stream);
}

long cio_spawn(const cio_spawn_t *spawn) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int copies[3] = {-1, -1, -1};
  pid_t identifier = 0;
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return -code;
  code = posix_spawnattr_init(&attributes);
  if (code) {
    posix_spawn_file_actions_destroy(&actions);
    return -code;
  }
  for (int stream = 0; stream < 3 && !code; stream++)
    code = place(&actions, stream, spawn->streams[stream], &copies[stream]);
  if (!code && spawn->directory)
    code = posix_spawn_file_actions_addchdir_np(&actions, spawn->directory);

  // Threads that start children may block signals, as libdispatch's do; a child that inherited that would not be
  // ended by SIGTERM. SIGPIPE is ignored by many servers, and by few of the programs that they start.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (spawn->leads_group) flags |= POSIX_SPAWN_SETPGROUP;
#if defined(__APPLE__)
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
  for (int stream = 0; stream < 3 && !code; stream++)
    if (spawn->streams[stream] == cio_stream_inherited)
      code = posix_spawn_file_actions_addinherit_np(&actions, stream);
#endif
  if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
  if (!code) code = posix_spawnattr_setsigdefault(&attributes, &defaults);
  if (!code) code = posix_spawnattr_setpgroup(&attributes, 0);
  if (!code) code = posix_spawnattr_setflags(&attributes, flags);
  if (!code)
    code = posix_spawnp(
        &identifier, spawn->program, &actions, &attributes, spawn->arguments,
        spawn->environment ? spawn->environment : environ);
  for (int stream = 0; stream < 3; stream++)
    if (copies[stream] >= 0) close(copies[stream]);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code ? -code : identifier;
}

long cio_open_process(int identifier) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  // Not handed on to programs without asking.
  long result = syscall(SYS_pidfd_open, identifier, 0);
  return result < 0 ? -(long)errno : result;
#else
  (void)identifier;
  return -ENOSYS;
#endif
}

long cio_look_for_end(int identifier, int flags, int *status, int *is_signal) {
  siginfo_t information;
  int options = WEXITED;
  if (flags & cio_end_at_once) options |= WNOHANG;
  if (flags & cio_end_not_collected) options |= WNOWAIT;
  int result;
  do {
    memset(&information, 0, sizeof information);
    result = waitid(P_PID, (id_t)identifier, &information, options);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return -(long)errno;
  if (information.si_pid == 0) return 0;
  *status = information.si_status;
  *is_signal = information.si_code != CLD_EXITED;
  return 1;
}

long cio_kill(int identifier, int number) {
  return kill(identifier, number) < 0 ? -(long)errno : 0;
}

int cio_group_has_running_member(int group) {
  if (kill(-group, 0) != 0) return 0;
#if defined(__linux__)
  DIR *processes = opendir("/proc");
  if (!processes) return 1;
  int found = 0;
  struct dirent *entry;
  while (!found && (entry = readdir(processes))) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) continue;
    text[count] = 0;
    // Number, name in parentheses (which may hold anything), state, parent, group, …
    char *end = strrchr(text, ')');
    char state;
    int parent, its_group;
    if (end && sscanf(end + 1, " %c %d %d", &state, &parent, &its_group) == 3)
      found = its_group == group && state != 'Z' && state != 'X';
  }
  closedir(processes);
  return found;
#else
  return 1;
#endif
}
