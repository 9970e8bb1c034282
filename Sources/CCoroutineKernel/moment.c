// SPDX-License-Identifier: Apache-2.0
//
// POSIX lets a handler call any function so long as the signal did not interrupt one that is not
// async-signal-safe (XSH 2.4.3). Whether it did can be seen on the stack: `pthread_create` uses the allocator, the
// list of stacks, and the loader, which all are in the C library and in the dynamic linker. So a moment is free if
// neither of the two has a frame on the interrupted stack, but for
// - the outermost frames, which are what starts a program or a thread; and
// - the innermost ones, if they wait in a system call: neither the allocator nor the loader nor `pthread_create`
//   makes one that waits for something outside of the process, and the one that they wait in for each other, futex,
//   counts only while there is no other.
//
// What is not seen are frames further out than code without unwind tables. Such code would have to be called back by
// an allocation or by the loader to do harm; neither calls anybody back but constructors of libraries.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "moment.h"

#include "cck_base.h"
#include "midway.h"

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>

// From glibc 2.32 on.
extern char __libc_single_threaded __attribute__((weak));

typedef struct range {
  uintptr_t low, high;
} range_t;

static range_t library, linker;

// Where the program begins: code of its own, further out than the C library's first function.
static range_t entry;

static int holds(const range_t *range, uintptr_t address) {
  return address >= range->low && address < range->high;
}

static int find(struct dl_phdr_info *info, size_t size, void *wanted) {
  (void)size;
  range_t *range = wanted;
  range_t object = {UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    uintptr_t high = low + info->dlpi_phdr[i].p_memsz;
    if (low < object.low) object.low = low;
    if (high > object.high) object.high = high;
  }
  if (!holds(&object, range->low)) return 0;
  *range = object;
  return 1;
}

// The object that defines a name for the whole process.
static int locate(const char *name, range_t *range) {
  range->low = (uintptr_t)dlsym(RTLD_DEFAULT, name);
  return range->low != 0 && dl_iterate_phdr(find, range);
}

int cck_moment_prepare(void) {
  // `_dl_find_object` is how the unwinder finds its tables without a lock that the interrupted code may hold; from
  // glibc 2.35 on.
  if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL) return 0;
  if (!locate("pthread_create", &library) || !locate("__tls_get_addr", &linker)) return 0;
  enum { longest_start = 64 };
  entry.low = (uintptr_t)getauxval(AT_ENTRY);
  entry.high = entry.low + longest_start;
  // Another allocator than the C library's, a sanitizer's for one, or all in one file: nothing can be told apart.
  return holds(&library, (uintptr_t)dlsym(RTLD_DEFAULT, "malloc"))
         && holds(&library, (uintptr_t)dlsym(RTLD_DEFAULT, "free"))
         && linker.low != library.low && !holds(&library, (uintptr_t)&cck_moment_prepare);
}

static const long waits[] = {
    SYS_read,    SYS_readv,    SYS_pread64, SYS_write,  SYS_writev,  SYS_pwrite64, SYS_recvfrom,
    SYS_recvmsg, SYS_recvmmsg, SYS_sendto,  SYS_sendmsg, SYS_accept, SYS_accept4,  SYS_connect,
    SYS_wait4,   SYS_waitid,   SYS_flock,   SYS_fcntl,  SYS_ioctl,   SYS_openat,
};

// The thread waited in a system call when the signal came.
static int is_waiting(const ucontext_t *context) {
#if defined(__x86_64__)
  uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
  long result = (long)context->uc_mcontext.gregs[REG_RAX];
  long number = result;
  static const uint8_t instruction[] = {0x0f, 0x05};  // syscall
#else
  uintptr_t pc = (uintptr_t)context->uc_mcontext.pc;
  long result = (long)context->uc_mcontext.regs[0];
  long number = (long)context->uc_mcontext.regs[8];
  static const uint8_t instruction[] = {0x01, 0x00, 0x00, 0xd4};  // svc #0
#endif
  // SAFETY: `pc` is in the text of the C library, which is mapped and begins with a header, so the bytes before it
  // can be read; it is mapped to its end, and an instruction is whole.
  const uint8_t *here = (const uint8_t *)pc;
  // The call is over, because of the signal. Those of the allocator and the loader do not end so.
  if (memcmp(here - sizeof(instruction), instruction, sizeof(instruction)) == 0 && result == -EINTR) return 1;
  // The call is begun once more after the handler: its number is where it has to be then.
  if (memcmp(here, instruction, sizeof(instruction)) != 0) return 0;
  if (number == SYS_futex) return __libc_single_threaded;
  for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
    if (number == waits[i]) return 1;
  }
  return 0;
}

// What is known of the interrupted stack so far, from the inside out.
typedef struct trail {
  uintptr_t start;  // frames further in are the handler's own
  int has_begun;
  int has_left;   // a frame of somebody else's has been seen
  int is_inside;  // the last frame was the C library's
  int is_caught;  // it has called code that is on the stack
} trail_t;

static _Unwind_Reason_Code follow(struct _Unwind_Context *frame, void *argument) {
  trail_t *trail = argument;
  uintptr_t pc = (uintptr_t)_Unwind_GetIP(frame);
  trail->has_begun |= pc == trail->start;
  if (!trail->has_begun) return _URC_NO_REASON;
  if (pc == 0 || holds(&entry, pc)) return _URC_END_OF_STACK;
  int is_inside = holds(&library, pc) || holds(&linker, pc);
  if (!is_inside) {
    trail->is_caught |= trail->is_inside && trail->has_left;
    trail->has_left = 1;
  }
  trail->is_inside = is_inside;
  return trail->is_caught ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uintptr_t place_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
  return (uintptr_t)context->uc_mcontext.pc;
#endif
}

int cck_moment_is_waiting(const void *machine_context) {
  return holds(&library, place_of(machine_context)) && is_waiting(machine_context);
}

int cck_moment_is_free(const void *machine_context) {
  const ucontext_t *context = machine_context;
  uintptr_t pc = place_of(context);
  if (holds(&linker, pc) || (holds(&library, pc) && !is_waiting(context))) return 0;
  if (cck_midway_to(context) != NULL) return 0;
  trail_t trail = {.start = pc};
  _Unwind_Backtrace(follow, &trail);
  return trail.has_begun && !trail.is_caught;
}

#else

int cck_moment_prepare(void) { return 0; }

int cck_moment_is_waiting(const void *machine_context) {
  (void)machine_context;
  return 0;
}

int cck_moment_is_free(const void *machine_context) {
  (void)machine_context;
  return 0;
}

#endif
