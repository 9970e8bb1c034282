// SPDX-License-Identifier: Apache-2.0
//
// What concerns files: pread, preadv, fsync, fdatasync, flock, and reads by way of read.c. A file is always
// ready, and slow all the same: what is not in memory is left to another thread.
#include "file.h"

#include "vector.h"

// MARK: - Without waiting

#if defined(__GLIBC__) && defined(RWF_NOWAIT)

static int is_unknown(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

ssize_t cbc_read_now(int descriptor, const struct iovec *buffers, int count, off_t offset) {
  ssize_t result = preadv2(descriptor, buffers, count, offset, RWF_NOWAIT);
  if (result < 0 && is_unknown(errno)) errno = EOPNOTSUPP;
  return result;
}

ssize_t cbc_write_now(int descriptor, const struct iovec *buffers, int count) {
  ssize_t result = pwritev2(descriptor, buffers, count, CBC_HERE, RWF_NOWAIT);
  if (result < 0 && is_unknown(errno)) errno = EOPNOTSUPP;
  return result;
}

#else

ssize_t cbc_read_now(int descriptor, const struct iovec *buffers, int count, off_t offset) {
  (void)descriptor, (void)buffers, (void)count, (void)offset;
  errno = EOPNOTSUPP;
  return -1;
}

ssize_t cbc_write_now(int descriptor, const struct iovec *buffers, int count) {
  (void)descriptor, (void)buffers, (void)count;
  errno = EOPNOTSUPP;
  return -1;
}

#endif

// MARK: - Reading

typedef struct reading {
  int descriptor;
  const struct iovec *buffers;
  int count;
  off_t offset;
  ssize_t result;
  int error;
} reading_t;

static void read_there(void *context) {
  reading_t *reading = context;
  reading->result =
      reading->offset == CBC_HERE
          ? REAL(readv)(reading->descriptor, reading->buffers, reading->count)
          : REAL(preadv)(
                reading->descriptor, reading->buffers, reading->count, reading->offset);
  reading->error = errno;
}

static ssize_t read_rest(
    cbc_frame_t *frame, int descriptor, cbc_vector_t *rest, off_t offset, ssize_t done) {
  reading_t reading = {
      .descriptor = descriptor,
      .buffers = rest->first,
      .count = (int)rest->count,
      .offset = offset == CBC_HERE ? CBC_HERE : offset + done};
  int error = cbc_offload(frame, read_there, &reading);
  if (error == 0 && reading.result < 0) error = reading.error;
  if (error == 0) return cbc_end(frame, done + reading.result);
  return done > 0 ? cbc_end(frame, done) : cbc_fail(frame, error);
}

ssize_t cbc_read_file(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count, off_t offset) {
  if (count <= 0 || (offset < 0 && offset != CBC_HERE)) {
    return offset == CBC_HERE ? CBC_PASS(frame, REAL(readv)(descriptor, buffers, count))
                              : CBC_PASS(frame, REAL(preadv)(descriptor, buffers, count, offset));
  }
  cbc_vector_t rest;
  if (cbc_vector_make(&rest, buffers, (size_t)count) != 0) return cbc_fail(frame, ENOMEM);
  ssize_t done = 0;
  if (__atomic_load_n(&cbc_reads_cached_at_once, __ATOMIC_RELAXED)) {
    done = cbc_read_now(descriptor, buffers, count, offset);
    // All of it, or the end of the file.
    int is_over = done == 0 || (done > 0 && !cbc_vector_advance(&rest, (size_t)done));
    if (done < 0) {
      is_over = errno != EAGAIN && errno != EOPNOTSUPP;
      if (!is_over) done = 0;
    }
    if (is_over) {
      int error = errno;
      cbc_vector_free(&rest);
      errno = error;
      return cbc_end(frame, done);
    }
  }
  ssize_t result = read_rest(frame, descriptor, &rest, offset, done);
  int error = errno;
  cbc_vector_free(&rest);
  errno = error;
  return result;
}

static ssize_t pread_parking(
    cbc_frame_t *frame, int descriptor, void *bytes, size_t count, off_t offset) {
  struct iovec buffer = {.iov_base = bytes, .iov_len = count};
  if (offset < 0 || cbc_kind_of(descriptor) != CBC_FILE) {
    return CBC_PASS(frame, REAL(pread)(descriptor, bytes, count, offset));
  }
  return cbc_read_file(frame, descriptor, &buffer, 1, offset);
}

ssize_t CBC_NAME(pread)(int descriptor, void *bytes, size_t count, off_t offset) {
  CBC_ROUTE(
      pread, pread_parking(&frame, descriptor, bytes, count, offset), descriptor, bytes, count,
      offset);
}
CBC_INTERPOSE(pread)

static ssize_t preadv_parking(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count, off_t offset) {
  if (offset < 0 || cbc_kind_of(descriptor) != CBC_FILE) {
    return CBC_PASS(frame, REAL(preadv)(descriptor, buffers, count, offset));
  }
  return cbc_read_file(frame, descriptor, buffers, count, offset);
}

ssize_t CBC_NAME(preadv)(int descriptor, const struct iovec *buffers, int count, off_t offset) {
  CBC_ROUTE(
      preadv, preadv_parking(&frame, descriptor, buffers, count, offset), descriptor, buffers,
      count, offset);
}
CBC_INTERPOSE(preadv)

#if defined(__GLIBC__)

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the calls with 64 in their names are the same ones");

ssize_t CBC_NAME(pread64)(int descriptor, void *bytes, size_t count, off64_t offset) {
  CBC_ROUTE(
      pread, pread_parking(&frame, descriptor, bytes, count, offset), descriptor, bytes, count,
      offset);
}

ssize_t CBC_NAME(preadv64)(
    int descriptor, const struct iovec *buffers, int count, off64_t offset) {
  CBC_ROUTE(
      preadv, preadv_parking(&frame, descriptor, buffers, count, offset), descriptor, buffers,
      count, offset);
}

ssize_t CBC_NAME(__pread_chk)(
    int descriptor, void *bytes, size_t count, off_t offset, size_t room) {
  if (count > room) return REAL(__pread_chk)(descriptor, bytes, count, offset, room);
  CBC_ROUTE(
      pread, pread_parking(&frame, descriptor, bytes, count, offset), descriptor, bytes, count,
      offset);
}

ssize_t CBC_NAME(__pread64_chk)(
    int descriptor, void *bytes, size_t count, off64_t offset, size_t room) {
  if (count > room) return REAL(__pread64_chk)(descriptor, bytes, count, offset, room);
  CBC_ROUTE(
      pread, pread_parking(&frame, descriptor, bytes, count, offset), descriptor, bytes, count,
      offset);
}

#endif

// MARK: - To the disk

typedef struct syncing {
  int (*call)(int);
  int descriptor;
  int result, error;
} syncing_t;

static void sync_there(void *context) {
  syncing_t *syncing = context;
  syncing->result = syncing->call(syncing->descriptor);
  syncing->error = errno;
}

static int sync_parking(cbc_frame_t *frame, int (*call)(int), int descriptor) {
  syncing_t syncing = {.call = call, .descriptor = descriptor};
  int error = cbc_offload(frame, sync_there, &syncing);
  if (error == 0 && syncing.result < 0) error = syncing.error;
  return (int)(error == 0 ? cbc_end(frame, syncing.result) : cbc_fail(frame, error));
}

int CBC_NAME(fsync)(int descriptor) {
  CBC_ROUTE(fsync, sync_parking(&frame, REAL(fsync), descriptor), descriptor);
}
CBC_INTERPOSE(fsync)

#if defined(__GLIBC__)
int CBC_NAME(fdatasync)(int descriptor) {
  CBC_ROUTE(fdatasync, sync_parking(&frame, REAL(fdatasync), descriptor), descriptor);
}
#endif

// MARK: - Locks

// Asked for again and again, and not on another thread: one who waits for a lock may wait for ever, and the
// threads are few.
static int flock_parking(cbc_frame_t *frame, int descriptor, int operation) {
  if (operation & (LOCK_NB | LOCK_UN)) return CBC_PASS(frame, REAL(flock)(descriptor, operation));
  int64_t step = 0;
  while (1) {
    int result = REAL(flock)(descriptor, operation | LOCK_NB);
    if (result == 0 || errno != EWOULDBLOCK) return (int)cbc_end(frame, result);
    int error = cbc_back_off(frame, &step);
    if (error != 0) return (int)cbc_fail(frame, error);
  }
}

int CBC_NAME(flock)(int descriptor, int operation) {
  CBC_ROUTE(flock, flock_parking(&frame, descriptor, operation), descriptor, operation);
}
CBC_INTERPOSE(flock)
