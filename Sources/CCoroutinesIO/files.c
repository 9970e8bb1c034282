// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CCoroutinesIO.h"

static long checked(long result) { return result < 0 ? -(long)errno : result; }

long cio_open(const char *path, int modes, unsigned permissions) {
  // Not to wait for the other end of a named pipe; nothing changes for files.
  int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  int both = cio_file_read | cio_file_write;
  flags |= (modes & both) == both ? O_RDWR : modes & cio_file_write ? O_WRONLY : O_RDONLY;
  if (modes & cio_file_create) flags |= O_CREAT;
  if (modes & cio_file_exclusive) flags |= O_CREAT | O_EXCL;
  if (modes & cio_file_truncate) flags |= O_TRUNC;
  if (modes & cio_file_append) flags |= O_APPEND;
  return checked(open(path, flags, (mode_t)permissions));
}

long cio_read_at(int file, void *bytes, size_t count, int64_t offset) {
  return checked(pread(file, bytes, count, (off_t)offset));
}

long cio_write_at(int file, const void *bytes, size_t count, int64_t offset) {
  return checked(pwrite(file, bytes, count, (off_t)offset));
}

long cio_append(int file, const void *bytes, size_t count) {
  return checked(write(file, bytes, count));
}

long cio_file_size(int file) {
  struct stat status;
  return fstat(file, &status) < 0 ? -(long)errno : (long)status.st_size;
}

long cio_truncate(int file, int64_t size) { return checked(ftruncate(file, (off_t)size)); }

long cio_sync(int file, int data_only) {
#if defined(__APPLE__)
  (void)data_only;
  // `fsync` leaves it in the cache of the disk there.
  if (fcntl(file, F_FULLFSYNC) == 0) return 0;
  return checked(fsync(file));
#else
  return checked(data_only ? fdatasync(file) : fsync(file));
#endif
}

long cio_reopen(int descriptor, int is_for_writing) {
  struct stat status;
  if (fstat(descriptor, &status) < 0) return -(long)errno;
#if defined(__linux__)
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    // An open file of its own, whose flags nobody shares.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (is_for_writing ? O_WRONLY : O_RDONLY);
    int opened = open(path, flags);
    if (opened >= 0) return opened;
  }
#else
  (void)is_for_writing;
#endif
  // A number that no program takes for a standard stream.
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return -(long)errno;
  // Sockets are used with calls that do not block, and files never do.
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) cio_set_nonblocking(copy);
  return copy;
}
