// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_parker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach/mach.h>
#endif

int cck_processor_count(void) {
#if defined(__linux__)
  cpu_set_t set;
  // Fails where there are more processors than the set has room for: then all of them.
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return cck_online_processor_count();
}

int cck_online_processor_count(void) {
  static int known = 0;
  int count = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (count == 0) {
    // glibc reads a file for it: 7 µs.
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    count = online > 0 ? (int)online : 1;
    __atomic_store_n(&known, count, __ATOMIC_RELAXED);
  }
  return count;
}

void cck_processor_yield(void) { sched_yield(); }

// Asks valgrind, by turning a register around twice, which nobody does who is not asking (valgrind.h, "client
// requests").
static int is_simulated(void) {
#if defined(__x86_64__)
  uint64_t question[6] = {0x1001};
  uint64_t answer;
  __asm__ volatile(
      "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
      : "=d"(answer)
      : "a"(question), "0"((uint64_t)0)
      : "cc", "memory");
  return answer != 0;
#else
  return 0;
#endif
}

uint64_t cck_ticks_of_millisecond(void) {
  if (is_simulated()) return UINT64_MAX;
#if defined(__x86_64__) || defined(__i386__)
  return 1 << 21;
#elif defined(__aarch64__)
  uint64_t rate;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate / 1000;
#else
  return UINT64_MAX;
#endif
}

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t cck_clock_now(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t cck_clock_wall(void) { return read_clock(CLOCK_REALTIME); }

int64_t cck_process_time(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

#if defined(__APPLE__)

int32_t cck_thread_clock(void) { return (int32_t)pthread_mach_thread_np(pthread_self()); }

int64_t cck_thread_time(int32_t clock) {
  thread_basic_info_data_t info;
  mach_msg_type_number_t size = THREAD_BASIC_INFO_COUNT;
  if (clock == 0) return 0;
  if (thread_info((thread_act_t)clock, THREAD_BASIC_INFO, (thread_info_t)&info, &size) != KERN_SUCCESS) {
    return 0;
  }
  return ((int64_t)info.user_time.seconds + info.system_time.seconds) * 1000000000 +
         ((int64_t)info.user_time.microseconds + info.system_time.microseconds) * 1000;
}

#else

int32_t cck_thread_clock(void) {
  clockid_t clock;
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? (int32_t)clock : 0;
}

int64_t cck_thread_time(int32_t clock) { return clock == 0 ? 0 : read_clock((clockid_t)clock); }

#endif

#if defined(__linux__)

#include <linux/futex.h>
#include <sys/syscall.h>

#if !defined(SYS_futex)
#define SYS_futex SYS_futex_time64
#endif

void cck_parker_initialize(cck_parker_t *parker) {
  parker->state = 0;
  parker->wakes = 0;
  parker->poller = NULL;
}

void cck_parker_sleep(cck_parker_t *parker, int64_t timeout) {
  struct timespec duration = {(time_t)(timeout / 1000000000), (long)(timeout % 1000000000)};
  syscall(
      SYS_futex, &parker->state, FUTEX_WAIT_PRIVATE, 1, timeout < 0 ? NULL : &duration, NULL, 0);
  cck_parker_retract(parker);
}

void cck_parker_wake_slowly(cck_parker_t *parker, uint32_t state) {
  // SAFETY: the owner set `poller` before it announced that it sleeps there, and keeps it with the parker.
  if (state == 2) return cck_poller_ring(parker->poller);
  // SAFETY: the owner may have gone on and away by now; a wake-up of an address where nobody sleeps
  // is harmless, and the memory of parkers is never unmapped (homes are kept for reuse).
  syscall(SYS_futex, &parker->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#else

void cck_parker_initialize(cck_parker_t *parker) {
  parker->state = 0;
  parker->wakes = 0;
  parker->poller = NULL;
  pthread_mutex_init(&parker->mutex, NULL);
  pthread_cond_init(&parker->condition, NULL);
}

void cck_parker_sleep(cck_parker_t *parker, int64_t timeout) {
  pthread_mutex_lock(&parker->mutex);
  if (__atomic_load_n(&parker->state, __ATOMIC_SEQ_CST) == 1) {
    if (timeout < 0) {
      pthread_cond_wait(&parker->condition, &parker->mutex);
    } else {
      struct timespec duration = {(time_t)(timeout / 1000000000), (long)(timeout % 1000000000)};
      pthread_cond_timedwait_relative_np(&parker->condition, &parker->mutex, &duration);
    }
  }
  cck_parker_retract(parker);
  pthread_mutex_unlock(&parker->mutex);
}

void cck_parker_wake_slowly(cck_parker_t *parker, uint32_t state) {
  // SAFETY: as above.
  if (state == 2) return cck_poller_ring(parker->poller);
  pthread_mutex_lock(&parker->mutex);
  pthread_cond_signal(&parker->condition);
  pthread_mutex_unlock(&parker->mutex);
}

#endif
