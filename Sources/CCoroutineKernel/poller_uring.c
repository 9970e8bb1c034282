// SPDX-License-Identifier: Apache-2.0
//
// io_uring's polls, with raw system calls. One request for each descriptor stays armed and posts an entry for each
// change, which the owner reads without a call of the system.
//
// What is peculiar to it:
//   V1  A request belongs to the thread that made it: that thread runs its completions whenever it enters the
//       kernel, and after its end they come back as cancelled. So only the owner watches, and a new owner
//       watches everything anew (`cck_poller_begin`).
//   V2  A request holds the open file. Whoever closes the descriptor must have it removed before, or the other
//       end does not hear of it. Any thread may remove.
//   V3  An entry says which arming of which descriptor it is about; `armed` knows the present one. Entries of
//       earlier ones mean nothing: what came meanwhile is told by the present one, which looks when it is armed.
//   V4  The kernel keeps what does not fit into the ring, says so in the flags, and ends the request: it is
//       reported as CCK_POLL_ENDED, and armed again at the next wait.
#if defined(__linux__) && __has_include(<linux/io_uring.h>)
#define _GNU_SOURCE
#include <linux/io_uring.h>
#endif
#include "poller.h"

#if defined(IORING_SETUP_TASKRUN_FLAG)
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(SYS_io_uring_setup)
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

enum {
  /// Two requests are submitted at a time, at most.
  submission_entries = 8,
  /// 16 bytes each. As many descriptors may become ready between two waits before V4 costs a call for each more.
  completion_entries = 16384,
};

static const uint32_t needed_features = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP |
                                        IORING_FEAT_EXT_ARG | IORING_FEAT_CQE_SKIP;

/// What a descriptor is watched with; `arming` 0: not at all.
typedef struct armed {
  uint64_t token;
  uint32_t arming;
} armed_t;

typedef struct uring_poller {
  cck_poller_t base;
  int ring;
  /// Both queues, and the submission entries.
  void *queues;
  size_t queues_size;
  struct io_uring_sqe *entries;
  size_t entries_size;

  /// Guards submission, which is over when it is left, and `armed`.
  pthread_mutex_t lock;
  uint32_t *submission_tail;
  uint32_t submission_mask;
  const uint32_t *flags;
  armed_t *armed;
  size_t armed_count;
  uint32_t last_arming;

  /// The owner's.
  uint64_t owner;
  uint32_t *completion_head;
  const uint32_t *completion_tail;
  uint32_t completion_mask;
  const struct io_uring_cqe *completions;
} uring_poller_t;

/// Tells threads apart, also those that have ended.
static uint64_t thread_number(void) {
  static uint64_t last;
  static __thread uint64_t own;
  if (own == 0) own = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return own;
}

static int enter(
    uring_poller_t *poller, uint32_t submitted, uint32_t awaited, uint32_t flags, const void *argument,
    size_t size) {
  return (int)syscall(
      SYS_io_uring_enter, poller->ring, submitted, awaited, flags, argument, size);
}

// MARK: - Submitting, under the lock

static struct io_uring_sqe *entry(uring_poller_t *poller, uint32_t offset) {
  uint32_t index = (*poller->submission_tail + offset) & poller->submission_mask;
  memset(&poller->entries[index], 0, sizeof poller->entries[index]);
  return &poller->entries[index];
}

/// Submits the first `count` entries. Returns 0 or an error number.
static int submit(uring_poller_t *poller, uint32_t count) {
  __atomic_store_n(
      poller->submission_tail, *poller->submission_tail + count, __ATOMIC_RELEASE);
  while (count > 0) {
    int taken = enter(poller, count, 0, 0, NULL, 0);
    if (taken > 0) {
      count -= (uint32_t)taken;
    } else if (taken == 0 || errno == EINTR || errno == EAGAIN || errno == EBUSY) {
      // Memory is short for the moment, and nothing may be lost.
      sched_yield();
    } else {
      int code = errno;
      __atomic_store_n(
          poller->submission_tail, *poller->submission_tail - count, __ATOMIC_RELEASE);
      return code;
    }
  }
  return 0;
}

static uint64_t user_data(int descriptor, uint32_t arming) {
  return (uint64_t)arming << 32 | (uint32_t)descriptor;
}

/// Not POLL_REMOVE, which does nothing while a change is on its way.
static void prepare_removal(uring_poller_t *poller, uint32_t offset, uint64_t request) {
  struct io_uring_sqe *removal = entry(poller, offset);
  removal->opcode = IORING_OP_ASYNC_CANCEL;
  removal->fd = -1;
  removal->addr = request;
  removal->flags = IOSQE_CQE_SKIP_SUCCESS;
}

static void prepare_poll(
    uring_poller_t *poller, uint32_t offset, int descriptor, uint32_t interest, int once,
    uint64_t request) {
  struct io_uring_sqe *poll = entry(poller, offset);
  uint32_t events = 0;
  // As with epoll.
  if (interest & CCK_POLL_READ) events |= POLLIN | POLLRDHUP;
  if (interest & CCK_POLL_WRITE) events |= POLLOUT;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  events = events << 16 | events >> 16;
#endif
  poll->opcode = IORING_OP_POLL_ADD;
  poll->fd = descriptor;
  poll->poll32_events = events;
  poll->len = once ? 0 : IORING_POLL_ADD_MULTI;
  poll->user_data = request;
}

// MARK: - Watching

/// Makes room for a descriptor in `armed`.
static int reserve(uring_poller_t *poller, int descriptor) {
  size_t needed = (size_t)descriptor + 1;
  if (needed <= poller->armed_count) return 1;
  size_t count = poller->armed_count * 2 < 64 ? 64 : poller->armed_count * 2;
  if (count < needed) count = needed;
  armed_t *armed = realloc(poller->armed, count * sizeof *armed);
  if (!armed) return 0;
  memset(armed + poller->armed_count, 0, (count - poller->armed_count) * sizeof *armed);
  poller->armed = armed;
  poller->armed_count = count;
  return 1;
}

/// What an entry is about; NULL if that is over.
static armed_t *armed_by(uring_poller_t *poller, const struct io_uring_cqe *completion) {
  uint32_t descriptor = (uint32_t)completion->user_data;
  uint32_t arming = (uint32_t)(completion->user_data >> 32);
  if (arming == 0 || descriptor >= poller->armed_count) return NULL;
  armed_t *armed = &poller->armed[descriptor];
  return armed->arming == arming ? armed : NULL;
}

/// Takes out what means nothing, so that waits that are cancelled again and again do not fill the ring.
static void discard_stale(uring_poller_t *poller) {
  uint32_t head = *poller->completion_head;
  uint32_t tail = __atomic_load_n(poller->completion_tail, __ATOMIC_ACQUIRE);
  uint32_t index = head;
  while (index != tail &&
         !armed_by(poller, &poller->completions[index & poller->completion_mask])) {
    index++;
  }
  if (index != head) __atomic_store_n(poller->completion_head, index, __ATOMIC_RELEASE);
}

/// Why the kernel has refused a request just submitted; 0 if it has not.
static int refusal(uring_poller_t *poller, uint32_t from, uint64_t request) {
  uint32_t tail = __atomic_load_n(poller->completion_tail, __ATOMIC_ACQUIRE);
  for (uint32_t index = from; index != tail; index++) {
    const struct io_uring_cqe *completion = &poller->completions[index & poller->completion_mask];
    if (completion->user_data == request && completion->res < 0) return -completion->res;
  }
  return 0;
}

static int uring_watch(
    cck_poller_t *base, int descriptor, uint32_t interest, uint64_t token, int once) {
  uring_poller_t *poller = (uring_poller_t *)base;
  if (descriptor < 0) return EBADF;
  pthread_mutex_lock(&poller->lock);
  int code = ENOMEM;
  if (reserve(poller, descriptor)) {
    discard_stale(poller);
    armed_t *armed = &poller->armed[descriptor];
    uint32_t count = 0;
    if (armed->arming != 0) prepare_removal(poller, count++, user_data(descriptor, armed->arming));
    if (++poller->last_arming == 0) poller->last_arming = 1;
    *armed = (armed_t){token, poller->last_arming};
    uint64_t request = user_data(descriptor, armed->arming);
    prepare_poll(poller, count++, descriptor, interest, once, request);
    uint32_t from = __atomic_load_n(poller->completion_tail, __ATOMIC_ACQUIRE);
    code = submit(poller, count);
    if (code == 0) code = refusal(poller, from, request);
    if (code != 0) armed->arming = 0;
  }
  pthread_mutex_unlock(&poller->lock);
  return code;
}

static void uring_unwatch(cck_poller_t *base, int descriptor) {
  uring_poller_t *poller = (uring_poller_t *)base;
  pthread_mutex_lock(&poller->lock);
  if (descriptor >= 0 && (size_t)descriptor < poller->armed_count) {
    armed_t *armed = &poller->armed[descriptor];
    if (armed->arming != 0) {
      prepare_removal(poller, 0, user_data(descriptor, armed->arming));
      armed->arming = 0;
      submit(poller, 1);
    }
  }
  pthread_mutex_unlock(&poller->lock);
}

static int uring_begin(cck_poller_t *base) {
  uring_poller_t *poller = (uring_poller_t *)base;
  uint64_t thread = thread_number();
  if (poller->owner == thread) return 0;
  int is_first = poller->owner == 0;
  poller->owner = thread;
  return !is_first;
}

// MARK: - Waiting

/// Takes over what is in the ring.
static int take(uring_poller_t *poller, cck_poller_event_t *events, int capacity) {
  uint32_t head = *poller->completion_head;
  uint32_t tail = __atomic_load_n(poller->completion_tail, __ATOMIC_ACQUIRE);
  if (head == tail) return 0;
  int reported = 0;
  pthread_mutex_lock(&poller->lock);
  for (; head != tail && reported < capacity; head++) {
    const struct io_uring_cqe *completion = &poller->completions[head & poller->completion_mask];
    armed_t *armed = armed_by(poller, completion);
    if (!armed) continue;
    uint32_t ready = 0;
    uint32_t found = completion->res < 0 ? 0 : (uint32_t)completion->res;
    if (found & (POLLIN | POLLPRI)) ready |= CCK_POLL_READ;
    if (found & POLLOUT) ready |= CCK_POLL_WRITE;
    if (found & (POLLRDHUP | POLLHUP | POLLERR)) ready |= CCK_POLL_READ | CCK_POLL_HANG_UP;
    if (found & (POLLHUP | POLLERR)) ready |= CCK_POLL_WRITE;
    if (!(completion->flags & IORING_CQE_F_MORE)) {
      armed->arming = 0;
      ready |= CCK_POLL_READ | CCK_POLL_WRITE | CCK_POLL_ENDED;
    }
    events[reported++] = (cck_poller_event_t){armed->token, ready};
  }
  pthread_mutex_unlock(&poller->lock);
  __atomic_store_n(poller->completion_head, head, __ATOMIC_RELEASE);
  return reported;
}

static int is_empty(uring_poller_t *poller) {
  return *poller->completion_head == __atomic_load_n(poller->completion_tail, __ATOMIC_ACQUIRE);
}

static int uring_wait(
    cck_poller_t *base, cck_poller_event_t *events, int capacity, int64_t timeout) {
  uring_poller_t *poller = (uring_poller_t *)base;
  if (is_empty(poller)) {
    if (timeout == 0) {
      uint32_t flags = __atomic_load_n(poller->flags, __ATOMIC_RELAXED);
      if (!(flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW))) return 0;
      enter(poller, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
    } else {
      struct __kernel_timespec time = {timeout / 1000000000, timeout % 1000000000};
      struct io_uring_getevents_arg argument = {
          .ts = timeout < 0 ? 0 : (uint64_t)(uintptr_t)&time};
      enter(
          poller, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
          sizeof argument);
    }
  }
  return take(poller, events, capacity);
}

/// A request that does nothing: its entry ends the wait.
static void uring_ring(cck_poller_t *base) {
  uring_poller_t *poller = (uring_poller_t *)base;
  pthread_mutex_lock(&poller->lock);
  entry(poller, 0)->opcode = IORING_OP_NOP;
  submit(poller, 1);
  pthread_mutex_unlock(&poller->lock);
}

// MARK: - Making

static void uring_free(cck_poller_t *base) {
  uring_poller_t *poller = (uring_poller_t *)base;
  munmap(poller->entries, poller->entries_size);
  munmap(poller->queues, poller->queues_size);
  close(poller->ring);
  pthread_mutex_destroy(&poller->lock);
  free(poller->armed);
  free(poller);
}

static const poller_kind_t operations = {
    CCK_POLLER_URING, uring_free, uring_begin, uring_watch, uring_unwatch, uring_wait, uring_ring,
};

static void *map(int ring, size_t size, off_t offset) {
  void *mapped =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
  return mapped == MAP_FAILED ? NULL : mapped;
}

static int map_queues(uring_poller_t *poller, const struct io_uring_params *parameters) {
  const struct io_sqring_offsets *submissions = &parameters->sq_off;
  const struct io_cqring_offsets *completions = &parameters->cq_off;
  size_t size = submissions->array + parameters->sq_entries * sizeof(uint32_t);
  size_t other = completions->cqes + parameters->cq_entries * sizeof(struct io_uring_cqe);
  poller->queues_size = size > other ? size : other;
  poller->queues = map(poller->ring, poller->queues_size, IORING_OFF_SQ_RING);
  poller->entries_size = parameters->sq_entries * sizeof(struct io_uring_sqe);
  poller->entries = map(poller->ring, poller->entries_size, IORING_OFF_SQES);
  if (!poller->queues || !poller->entries) return 0;
  char *queues = poller->queues;
  poller->submission_tail = (uint32_t *)(queues + submissions->tail);
  poller->submission_mask = *(uint32_t *)(queues + submissions->ring_mask);
  poller->flags = (uint32_t *)(queues + submissions->flags);
  poller->completion_head = (uint32_t *)(queues + completions->head);
  poller->completion_tail = (uint32_t *)(queues + completions->tail);
  poller->completion_mask = *(uint32_t *)(queues + completions->ring_mask);
  poller->completions = (struct io_uring_cqe *)(queues + completions->cqes);
  // Each place always names the entry of the same number.
  uint32_t *names = (uint32_t *)(queues + submissions->array);
  for (uint32_t index = 0; index < parameters->sq_entries; index++) names[index] = index;
  return 1;
}

cck_poller_t *poller_make_uring(void) {
  uring_poller_t *poller = calloc(1, sizeof *poller);
  if (!poller) return NULL;
  // Completions wait until the owner is in the kernel anyway, and say so in the flags: nobody interrupts it.
  struct io_uring_params parameters = {
      .flags = IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE | IORING_SETUP_COOP_TASKRUN |
               IORING_SETUP_TASKRUN_FLAG,
      .cq_entries = completion_entries,
  };
  poller->base.operations = &operations;
  poller->ring = (int)syscall(SYS_io_uring_setup, submission_entries, &parameters);
  int code = errno;
  if (poller->ring >= 0) {
    if ((parameters.features & needed_features) != needed_features) {
      code = ENOSYS;
    } else if (map_queues(poller, &parameters)) {
      pthread_mutex_init(&poller->lock, NULL);
      return &poller->base;
    } else {
      code = errno;
    }
    if (poller->entries) munmap(poller->entries, poller->entries_size);
    if (poller->queues) munmap(poller->queues, poller->queues_size);
    close(poller->ring);
  }
  free(poller);
  errno = code;
  return NULL;
}
#else
#include <errno.h>
#include <stddef.h>

cck_poller_t *poller_make_uring(void) {
  errno = ENOSYS;
  return NULL;
}
#endif
