// SPDX-License-Identifier: Apache-2.0
#include "gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"
#include "waiting.h"

uint32_t cbc_switches;
int cbc_reads_cached_at_once = 1;

static cbc_hooks_t hooks;
static int64_t block_threshold = 1000000;

// The coroutine that is inside one of our calls on this thread, and not parked there: what the library
// itself calls then goes straight to libc.
static __thread void *inside __attribute__((tls_model("initial-exec")));

// Not inlined, and the address opaque: a coroutine of a dispatch queue may come back from a wait on another
// thread, with another such variable.
__attribute__((noinline)) static void set_inside(void *fiber) {
  void **place = &inside;
  __asm__ volatile("" : "+r"(place) : : "memory");
  *place = fiber;
}

// MARK: - libc's own

#if defined(__GLIBC__)

struct cbc_real cbc_real;

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif

// A sanitizer stands in front of libc just as this does, and sees by these calls who waits for whom: it
// comes in between.
static void *find(const char *name, const char *of_sanitizer) {
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  void *sanitizers = dlsym(RTLD_DEFAULT, of_sanitizer);
  if (sanitizers != NULL) return sanitizers;
#else
  (void)of_sanitizer;
#endif
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) void cbc_find_real(void) {
#define CBC_FIND(name)                                                                             \
  __atomic_store_n(                                                                                \
      &cbc_real.name, (__typeof__(cbc_real.name))find(#name, "__interceptor_" #name),              \
      __ATOMIC_RELAXED);
  CBC_CALLS(CBC_FIND)
#undef CBC_FIND
}

#endif

// MARK: - Switches

// In the child of a fork there is no loop any more that would wake anybody: what the child calls until it
// becomes another program blocks, as it would without us.
static void switch_off_in_child(void) { __atomic_store_n(&cbc_switches, 0, __ATOMIC_RELAXED); }

static void install_once(void) { pthread_atfork(cbc_lock_all, cbc_unlock_all, cbc_unlock_all_in_child); }

void cbc_install(const cbc_hooks_t *given) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  hooks = *given;
  pthread_once(&once, install_once);
}

void cbc_unlock_all_in_child(void) {
  cbc_unlock_all();
  cbc_forget_waits();
  switch_off_in_child();
}

void cbc_set_enabled(int enabled) {
  if (enabled) {
    __atomic_or_fetch(&cbc_switches, 1, __ATOMIC_SEQ_CST);
  } else {
    __atomic_and_fetch(&cbc_switches, ~(uint32_t)1, __ATOMIC_SEQ_CST);
  }
}

int cbc_is_enabled(void) { return __atomic_load_n(&cbc_switches, __ATOMIC_RELAXED) & 1; }

void cbc_scope_began(void) { __atomic_add_fetch(&cbc_switches, 2, __ATOMIC_SEQ_CST); }

void cbc_scope_ended(void) {
  // A child of a fork has forgotten all of them.
  uint32_t now = __atomic_load_n(&cbc_switches, __ATOMIC_RELAXED);
  while (now >= 2 && !__atomic_compare_exchange_n(
                         &cbc_switches, &now, now - 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

void cbc_set_block_threshold(int64_t nanoseconds) {
  __atomic_store_n(&block_threshold, nanoseconds, __ATOMIC_RELAXED);
}

void cbc_set_reads_cached_at_once(int at_once) {
  __atomic_store_n(&cbc_reads_cached_at_once, at_once, __ATOMIC_RELAXED);
}

// MARK: - Beginning and ending

int cbc_begin(cbc_frame_t *frame, const char *name, const void *site) {
  int saved_errno = errno;
  void *fiber = cck_thread_current()->fiber;
  if (inside == fiber) return 0;
  set_inside(fiber);
  uint32_t switches = __atomic_load_n(&cbc_switches, __ATOMIC_RELAXED);
  int scope = switches >= 2 ? hooks.scope() : -1;
  int is_on = scope >= 0 ? scope : (int)(switches & 1);
  errno = saved_errno;
  if (!is_on) {
    set_inside(NULL);
    return 0;
  }
  *frame = (cbc_frame_t){.site = site, .name = name, .saved_errno = saved_errno, .descriptor = -1};
  return 1;
}

static int is_on_signal_stack(void) {
  stack_t current;
  return sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_ONSTACK);
}

// A handler of a signal that came in the middle of a coroutine, or a block of another queue's `sync`, must
// come to its end before anything else runs.
static int may_park(void) { return !is_on_signal_stack() && hooks.may_park(); }

// A coroutine whose calls find all they want at once never parks, and those beside it would never run.
#define AT_ONCE_IN_A_ROW 61

__attribute__((noinline)) static int has_run_long(int waited) {
  static __thread unsigned in_a_row __attribute__((tls_model("initial-exec")));
  in_a_row = waited ? 0 : in_a_row + 1;
  if (in_a_row < AT_ONCE_IN_A_ROW) return 0;
  in_a_row = 0;
  return 1;
}

static void finish(cbc_frame_t *frame) {
  int waited = frame->parked || frame->offloaded;
  int64_t threshold = __atomic_load_n(&block_threshold, __ATOMIC_RELAXED);
  cbc_record_add(
      frame->site, frame->name, frame->parked, frame->offloaded,
      frame->blocked >= threshold ? frame->blocked : 0);
  set_inside(NULL);
  if (frame->passes || !has_run_long(waited)) return;
  if (frame->descriptor >= 0 && cbc_is_nonblocking(frame->descriptor)) return;
  if (may_park()) hooks.sleep(0);
}

long cbc_end(cbc_frame_t *frame, long result) {
  int error = result < 0 ? errno : frame->saved_errno;
  finish(frame);
  errno = error;
  return result;
}

long cbc_fail(cbc_frame_t *frame, int error) {
  finish(frame);
  errno = error;
  return -1;
}

int64_t cbc_enter_libc(void) {
  int64_t now = cck_clock_now();
  return now;
}

void cbc_leave_libc(cbc_frame_t *frame, int64_t since) {
  int error = errno;
  int64_t taken = cck_clock_now() - since;
  if (taken > frame->blocked) frame->blocked = taken;
  errno = error;
}

// MARK: - Parking

static cbc_outcome_t sleep_parked(cbc_frame_t *frame, int64_t nanoseconds) {
  void *fiber = cck_thread_current()->fiber;
  set_inside(NULL);
  cbc_outcome_t outcome = hooks.sleep(nanoseconds);
  set_inside(fiber);
  frame->parked = 1;
  return outcome;
}

static int block_for(cbc_frame_t *frame, int64_t nanoseconds) {
  struct timespec left = {
      .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int64_t since = cbc_enter_libc();
  REAL(nanosleep)(&left, NULL);
  cbc_leave_libc(frame, since);
  return 0;
}

int cbc_pause(cbc_frame_t *frame, int64_t nanoseconds) {
  if (!may_park()) return block_for(frame, nanoseconds);
  return sleep_parked(frame, nanoseconds) == CBC_CANCELLED ? ECANCELED : 0;
}

int cbc_back_off(cbc_frame_t *frame, int64_t *step) {
  *step = *step == 0 ? 200000 : *step * 2;
  if (*step > 10000000) *step = 10000000;
  return cbc_pause(frame, *step);
}

// More fruitless wake-ups in a row, each at once, than chance brings: something is ready by epoll that is not by the call,
// as a datagram socket whose receiver is full. Then time decides.
#define FRUITLESS 4

static int await_by_polling(
    cbc_frame_t *frame, int descriptor, cbc_direction_t direction, int64_t deadline, int timeout) {
  int64_t left = deadline == CBC_FOREVER ? CBC_FOREVER : deadline - cck_clock_now();
  if (left <= 0) return timeout;
  if (may_park()) return cbc_pause(frame, left < 1000000 ? left : 1000000);
  struct pollfd one = {.fd = descriptor, .events = direction == CBC_READING ? POLLIN : POLLOUT};
  int64_t since = cbc_enter_libc();
  int64_t milliseconds = left == CBC_FOREVER ? -1 : left / 1000000 + 1;
  int count = REAL(poll)(&one, 1, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
  cbc_leave_libc(frame, since);
  return count < 0 && errno == EINTR ? EINTR : 0;
}

int cbc_await(
    cbc_frame_t *frame, int descriptor, cbc_direction_t direction, int64_t deadline, int timeout) {
  if (frame->fruitless >= FRUITLESS || !may_park()) {
    frame->fruitless = 0;
    return await_by_polling(frame, descriptor, direction, deadline, timeout);
  }
  void *fiber = cck_thread_current()->fiber;
  int64_t since = cck_clock_now();
  cbc_note_wait(descriptor, 1);
  set_inside(NULL);
  cbc_outcome_t outcome = hooks.wait(descriptor, direction, deadline);
  set_inside(fiber);
  cbc_note_wait(descriptor, -1);
  frame->parked = 1;
  frame->fruitless = cck_clock_now() - since < 1000000 ? frame->fruitless + 1 : 0;
  switch (outcome) {
    case CBC_READY: return 0;
    case CBC_TIMED_OUT: return timeout;
    case CBC_CLOSED: return EBADF;
    case CBC_CANCELLED: return ECANCELED;
    case CBC_UNABLE: break;
  }
  return await_by_polling(frame, descriptor, direction, deadline, timeout);
}

// MARK: - Offloading

int cbc_offload_or_leave(
    cbc_frame_t *frame, void (*work)(void *), void *context, void (*drop)(void *)) {
  if (!may_park()) {
    int64_t since = cbc_enter_libc();
    work(context);
    cbc_leave_libc(frame, since);
    return 0;
  }
  void *fiber = cck_thread_current()->fiber;
  set_inside(NULL);
  cbc_outcome_t outcome =
      drop == NULL ? hooks.offload(work, context) : hooks.offload_or_leave(work, context, drop);
  set_inside(fiber);
  if (outcome == CBC_CANCELLED) return ECANCELED;
  frame->offloaded = 1;
  return 0;
}

int cbc_offload(cbc_frame_t *frame, void (*work)(void *), void *context) {
  return cbc_offload_or_leave(frame, work, context, NULL);
}

int64_t cbc_scheduler_now(void) { return hooks.now(); }

int cbc_is_cancelled(void) { return hooks.is_cancelled(); }

void cbc_wake_waiters(int descriptor) { hooks.closing(descriptor); }

// MARK: - Descriptors

cbc_kind_t cbc_kind_of(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return CBC_INVALID;
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFBLK:
    case S_IFDIR: return CBC_FILE;
    case S_IFSOCK: return CBC_SOCKET;
    default: return CBC_OTHER;
  }
}

static pthread_mutex_t flags_lock = PTHREAD_MUTEX_INITIALIZER;

void cbc_lock_flags(void) { pthread_mutex_lock(&flags_lock); }

void cbc_unlock_flags(void) { pthread_mutex_unlock(&flags_lock); }

int cbc_is_nonblocking(int descriptor) {
  cbc_lock_flags();
  int flags = fcntl(descriptor, F_GETFL);
  cbc_unlock_flags();
  return flags < 0 || (flags & O_NONBLOCK) != 0;
}

int64_t cbc_socket_deadline(int descriptor, cbc_direction_t direction) {
  struct timeval limit;
  socklen_t length = sizeof(limit);
  int option = direction == CBC_READING ? SO_RCVTIMEO : SO_SNDTIMEO;
  if (getsockopt(descriptor, SOL_SOCKET, option, &limit, &length) != 0) return CBC_FOREVER;
  if (limit.tv_sec == 0 && limit.tv_usec == 0) return CBC_FOREVER;
  return cbc_deadline_in(cbc_nanoseconds(limit.tv_sec, (int64_t)limit.tv_usec * 1000));
}

int cbc_is_ready(int descriptor, short events) {
  struct pollfd one = {.fd = descriptor, .events = events};
  return REAL(poll)(&one, 1, 0) > 0;
}

// MARK: - Time

int64_t cbc_nanoseconds(int64_t seconds, int64_t nanoseconds) {
  int64_t total;
  if (__builtin_mul_overflow(seconds, 1000000000, &total) ||
      __builtin_add_overflow(total, nanoseconds, &total)) {
    return CBC_FOREVER;
  }
  return total;
}

int64_t cbc_deadline_in(int64_t nanoseconds) {
  int64_t deadline;
  if (__builtin_add_overflow(cck_clock_now(), nanoseconds, &deadline)) return CBC_FOREVER;
  return deadline;
}
