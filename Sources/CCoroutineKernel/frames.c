// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_frames.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "cck_layout.h"
#include "cck_stack.h"
#include "cck_thread.h"
#include "cck_trace.h"
#include "midway.h"

// Frames of others lie where a sanitizer thinks nothing of ours may be.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNCHECKED __attribute__((no_sanitize("address", "thread")))
#endif
#endif
#if !defined(UNCHECKED)
#define UNCHECKED
#endif

// The words before a frame pointer's address at which the caller's frame pointer and the return address are.
#if defined(__riscv)
#define SAVED_FRAME (-2)
#define SAVED_RETURN (-1)
#else
#define SAVED_FRAME 0
#define SAVED_RETURN 1
#endif

UNCHECKED static uint32_t walk(
    uintptr_t pc, uintptr_t fp, uintptr_t low, uintptr_t high, uintptr_t *frames, uint32_t capacity) {
  uint32_t count = 0;
  if (pc != 0 && count < capacity) frames[count++] = pc;
  uintptr_t margin = 2 * sizeof(uintptr_t);
  while (count < capacity && fp % sizeof(uintptr_t) == 0 && fp >= low + margin && fp + margin <= high) {
    const uintptr_t *frame = (const uintptr_t *)fp;
    uintptr_t caller = frame[SAVED_RETURN];
    uintptr_t next = frame[SAVED_FRAME];
    if (caller == 0) break;
    frames[count++] = caller;
    if (next <= fp) break;  // stacks grow down, so callers are further up
    fp = next;
  }
  return count;
}

uint32_t cck_frames_of_context(
    const cck_context_t *context, const void *low, const void *high, uintptr_t *frames,
    uint32_t capacity) {
#if defined(CCK_CONTEXT_INLINE)
  return walk(
      (uintptr_t)context->pc, (uintptr_t)context->fp, (uintptr_t)low, (uintptr_t)high, frames, capacity);
#else
  // The other switches keep the registers on the stack.
  (void)context, (void)low, (void)high, (void)frames, (void)capacity;
  return 0;
#endif
}

// Where the stack ends that an address of the calling thread is on; the address itself if that is not known.
static uintptr_t end_of_stack(uintptr_t address) {
  const cck_stack_t *stack = cck_stack_around((const void *)address);
  if (stack != NULL) return (uintptr_t)stack;
  uintptr_t end = (uintptr_t)cck_thread_current()->stack_end;
  return end > address ? end : address;
}

uint32_t cck_frames_here(uintptr_t *frames, uint32_t capacity) {
  uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
  return walk(0, fp, fp - 4 * sizeof(uintptr_t), end_of_stack(fp), frames, capacity);
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

int cck_thread_number(void) { return (int)syscall(SYS_gettid); }

void cck_thread_can_be_seen(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGURG);
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

// One look at a time. It goes from asked to writing to idle, or, if the time is up first, from asked to idle;
// whoever makes the step from asked has the memory of `seen`.
enum { IDLE, ASKED, WRITING };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stage = IDLE;
static int wanted;
static cck_sight_t seen;

static int step(int from, int to) {
  return __atomic_compare_exchange_n(&stage, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// What the unwinder has found so far.
typedef struct trail {
  uintptr_t start;  // frames further in are the handler's own
  int has_begun;
  cck_sight_t *sight;
} trail_t;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument) {
  trail_t *trail = argument;
  uintptr_t pc = (uintptr_t)_Unwind_GetIP(context);
  trail->has_begun |= pc == trail->start;
  if (!trail->has_begun) return _URC_NO_REASON;
  cck_sight_t *sight = trail->sight;
  if (pc == 0 || sight->count == CCK_FRAMES_LIMIT) return _URC_END_OF_STACK;
  sight->frames[sight->count++] = pc;
  return _URC_NO_REASON;
}

// From glibc 2.35 on the unwinder finds its tables by this, without a lock that the interrupted code may hold.
extern void *_dl_find_object(void *, void *) __attribute__((weak));

// The C library's functions keep no frame pointers, and threads that are blocked are in one of those.
static void unwind(uintptr_t pc, cck_sight_t *sight) {
  if (_dl_find_object == NULL) return;
  trail_t trail = {pc, 0, sight};
  _Unwind_Backtrace(note_frame, &trail);
}

void cck_frames_prepare(void) {
  cck_sight_t sight = {.count = 0};
  unwind(1, &sight);
}

// What a coroutine that runs here looks at before it parks: it has been cancelled, or all are recorded.
static int has_attention(const void *fiber) {
#if defined(CCK_CONTEXT_INLINE)  // the offset is for words of 64 bits
  return fiber != NULL && __atomic_load_n((const char *)fiber + CCK_FIBER_ATTENTION, __ATOMIC_RELAXED) != 0;
#else
  (void)fiber;
  return 0;
#endif
}

UNCHECKED void cck_frames_of_interrupted(const void *machine, cck_sight_t *sight) {
  const ucontext_t *context = machine;
#if defined(__x86_64__)
  uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
  uintptr_t fp = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
  uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
  uintptr_t pc = (uintptr_t)context->uc_mcontext.pc;
  uintptr_t fp = (uintptr_t)context->uc_mcontext.regs[29];
  uintptr_t sp = (uintptr_t)context->uc_mcontext.sp;
#endif
  const cck_context_t *next = cck_midway_to(machine);
  if (next != NULL) {
    // It is there in all but the jump.
    pc = (uintptr_t)next->pc;
    fp = (uintptr_t)next->fp;
    sp = (uintptr_t)next->sp;
  }
  cck_thread_t *thread = cck_thread_current();
  const cck_stack_t *stack = cck_stack_around((const void *)sp);
  sight->home = thread->home;
  sight->identifier = stack != NULL ? stack->identifier : 0;
  sight->is_cancelled = has_attention(thread->fiber) && cck_trace_current() == 0;
  sight->name[0] = 0;
  if (stack != NULL && stack->label != NULL) {
    size_t length = 0;
    while (length < sizeof(sight->name) - 1 && stack->label[length] != 0) {
      sight->name[length] = stack->label[length];
      length++;
    }
    sight->name[length] = 0;
  }
  sight->count = 0;
  if (next == NULL) unwind(pc, sight);
  // Between the stack pointer and the stack's end: the chain of a C function without frame pointers may lead
  // anywhere.
  if (sight->count < 2) {
    sight->count = walk(pc, fp, sp - sizeof(uintptr_t), end_of_stack(sp), sight->frames, CCK_FRAMES_LIMIT);
  }
}

static void look(int signal, siginfo_t *info, void *machine) {
  (void)signal, (void)info;
  int saved_errno = errno;
  // A late signal of an earlier look may answer for this one if it is for the same thread: that is as good.
  if (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) == cck_thread_number() && step(ASKED, WRITING)) {
    cck_frames_of_interrupted(machine, &seen);
    __atomic_store_n(&stage, IDLE, __ATOMIC_RELEASE);
  }
  errno = saved_errno;
}

static int is_installed;

static int install(void) {
  struct sigaction current;
  if (is_installed) return 0;
  if (sigaction(SIGURG, NULL, &current) != 0) return errno;
  if (current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN) return EBUSY;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(SIGURG, &action, NULL) != 0) return errno;
  cck_frames_prepare();
  is_installed = 1;
  return 0;
}

int cck_frames_of_thread(int number, int64_t timeout, cck_sight_t *sight) {
  if (number == 0) return ESRCH;
  pthread_mutex_lock(&lock);
  int error = install();
  if (error == 0) {
    __atomic_store_n(&wanted, number, __ATOMIC_RELEASE);
    __atomic_store_n(&stage, ASKED, __ATOMIC_RELEASE);
    if (syscall(SYS_tgkill, getpid(), number, SIGURG) != 0) {
      error = errno;
      __atomic_store_n(&stage, IDLE, __ATOMIC_RELEASE);
    }
    struct timespec pause = {0, 100000};
    while (error == 0 && __atomic_load_n(&stage, __ATOMIC_ACQUIRE) != IDLE) {
      if (timeout <= 0 && step(ASKED, IDLE)) error = ETIMEDOUT;
      nanosleep(&pause, NULL);
      timeout -= pause.tv_nsec;
    }
    if (error == 0) *sight = seen;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int cck_thread_is_blocked(int number) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", number);
  FILE *file = fopen(path, "re");
  if (file == NULL) return -1;
  // Number, name in parentheses, which may contain anything, and state.
  char line[512];
  const char *end = fgets(line, sizeof(line), file) == NULL ? NULL : strrchr(line, ')');
  fclose(file);
  if (end == NULL || end[1] == 0) return -1;
  return end[2] != 'R';
}

int cck_thread_count(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return -1;
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

#else

int cck_thread_number(void) { return 0; }

void cck_thread_can_be_seen(void) {}

void cck_frames_prepare(void) {}

void cck_frames_of_interrupted(const void *machine, cck_sight_t *sight) {
  (void)machine;
  memset(sight, 0, sizeof(*sight));
}

int cck_frames_of_thread(int number, int64_t timeout, cck_sight_t *sight) {
  (void)number, (void)timeout, (void)sight;
  return ENOTSUP;
}

int cck_thread_is_blocked(int number) {
  (void)number;
  return -1;
}

int cck_thread_count(void) { return -1; }

#endif
