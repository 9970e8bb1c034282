// SPDX-License-Identifier: Apache-2.0
//
// Advice to the system about many pieces of memory at once, which costs about half of what it costs to give
// it about each.
#ifndef CCK_ADVICE_H
#define CCK_ADVICE_H

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

// Pieces that are worth one system call.
#define CCK_PIECES 64

#if defined(__linux__)
typedef struct iovec cck_piece_t;
#else
typedef struct cck_piece {
  void *iov_base;
  size_t iov_len;
} cck_piece_t;
#endif

#define CCK_PIDFD_SELF (-10000)
#define CCK_SYS_PROCESS_MADVISE 440

// Returns 0 if the advice was taken for all pieces.
static int cck_advise(const cck_piece_t *pieces, size_t count, int advice) {
#if defined(__linux__)
  static int knows_batches = 1;
  if (__atomic_load_n(&knows_batches, __ATOMIC_RELAXED) && count > 1) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += pieces[i].iov_len;
    long done =
        syscall(CCK_SYS_PROCESS_MADVISE, (long)CCK_PIDFD_SELF, pieces, count, (long)advice, 0L);
    if (done == (long)bytes) return 0;
    // An older Linux, or a filter of system calls. To say it twice does no harm.
    if (done < 0 && errno != ENOMEM) __atomic_store_n(&knows_batches, 0, __ATOMIC_RELAXED);
  }
#endif
  int result = 0;
  for (size_t i = 0; i < count; i++) {
    if (madvise(pieces[i].iov_base, pieces[i].iov_len, advice) != 0) result = -1;
  }
  return result;
}

#endif
