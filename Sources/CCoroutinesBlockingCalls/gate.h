// SPDX-License-Identifier: Apache-2.0
//
// What every call begins and ends with.
#ifndef CBC_GATE_H
#define CBC_GATE_H

#include "calls.h"

#include <CCoroutineKernel.h>
#include <errno.h>

#include "CCoroutinesBlockingCalls.h"

/// Not 0 if parking is on for anybody: bit 0 for the process, the others count scopes.
extern uint32_t cbc_switches;

/// The first look, and the only one as long as nothing is switched on or no coroutine runs here.
CCK_INLINE int cbc_is_concerned(void) {
  return CCK_UNLIKELY(__atomic_load_n(&cbc_switches, __ATOMIC_RELAXED) != 0) &&
         cck_thread_current()->fiber != NULL;
}

/// One call by a coroutine, from its beginning to its end.
typedef struct cbc_frame {
  const void *site;      ///< Where it returns to.
  const char *name;      ///< Its name; a constant, which stands for the call.
  int saved_errno;       ///< A call that succeeds leaves errno alone.
  int parked;            ///< It has parked.
  int offloaded;         ///< Another thread has done it.
  int descriptor;        ///< What it is about; -1 if nothing.
  int passes;            ///< It goes straight to libc's own, with the frame for the report only.
  unsigned fruitless;    ///< Wake-ups in a row after which there was nothing.
  int64_t blocked;       ///< So long it kept the thread.
} cbc_frame_t;

/// Begins a call. 0 if it is to go straight to libc: it is ours, or parking is off here.
int cbc_begin(cbc_frame_t *frame, const char *name, const void *site);

/// Ends a call with what libc would return: errno stands if that is negative, and is as before if not.
long cbc_end(cbc_frame_t *frame, long result);

/// Ends a call that failed with an error of ours.
long cbc_fail(cbc_frame_t *frame, int error);

/// The clock before and after something that may keep the thread.
int64_t cbc_enter_libc(void);
void cbc_leave_libc(cbc_frame_t *frame, int64_t since);

/// Does libc's own call here, whatever time it takes, and ends this one.
#define CBC_PASS(frame, expression)                                                                \
  ({                                                                                               \
    (frame)->passes = 1;                                                                           \
    int64_t since = cbc_enter_libc();                                                              \
    __typeof__(expression) passed = (expression);                                                  \
    cbc_leave_libc(frame, since);                                                                  \
    (__typeof__(expression))cbc_end(frame, passed);                                                \
  })

/// The body of an interposed call: straight to libc's, or to `slow` with a frame in front.
#define CBC_ROUTE(name, slow, ...)                                                                 \
  do {                                                                                             \
    if (CCK_LIKELY(!cbc_is_concerned())) return REAL(name)(__VA_ARGS__);                           \
    cbc_frame_t frame;                                                                             \
    if (!cbc_begin(&frame, #name, __builtin_return_address(0))) return REAL(name)(__VA_ARGS__);    \
    return slow;                                                                                   \
  } while (0)

/// After an attempt that found nothing to do: parks until another one is worth it.
/// 0 then; else the error to fail with, which is `timeout` once the deadline has come.
int cbc_await(
    cbc_frame_t *frame, int descriptor, cbc_direction_t direction, int64_t deadline, int timeout);

/// Parks for a time. 0, or ECANCELED.
int cbc_pause(cbc_frame_t *frame, int64_t nanoseconds);

/// Parks for a growing time between attempts at what nothing tells the end of. 0, or ECANCELED.
int cbc_back_off(cbc_frame_t *frame, int64_t *step);

/// Has another thread do the work. 0 once it is done, or ECANCELED if it has not begun and never will.
int cbc_offload(cbc_frame_t *frame, void (*work)(void *), void *context);

/// The same, but leaves work that goes on; see `offload_or_leave`.
int cbc_offload_or_leave(
    cbc_frame_t *frame, void (*work)(void *), void *context, void (*drop)(void *));

/// Tells those who wait for the descriptor that it is about to go.
void cbc_closing(int descriptor);

/// What kind of thing a descriptor is.
typedef enum cbc_kind { CBC_FILE, CBC_SOCKET, CBC_OTHER, CBC_INVALID } cbc_kind_t;
cbc_kind_t cbc_kind_of(int descriptor);

/// The user has made the descriptor non-blocking (or it is none).
int cbc_is_nonblocking(int descriptor);

/// Flags of a descriptor are changed for a moment under this lock; who looks at them takes it, too.
void cbc_lock_flags(void);
void cbc_unlock_flags(void);

/// When SO_RCVTIMEO or SO_SNDTIMEO ends a wait that begins now.
int64_t cbc_socket_deadline(int descriptor, cbc_direction_t direction);

/// A descriptor is ready, by poll.
int cbc_is_ready(int descriptor, short events);

/// Duration in nanoseconds; saturates.
int64_t cbc_nanoseconds(int64_t seconds, int64_t nanoseconds);

/// A moment so many nanoseconds from now, by cck_clock_now(); saturates.
int64_t cbc_deadline_in(int64_t nanoseconds);

/// Parks until one of the descriptors is ready as poll has it, with none ready now. 0 then and at the
/// deadline; or the error to fail with. `closed` is one of them that has been closed meanwhile, or -1.
int cbc_await_any(
    cbc_frame_t *frame, const struct pollfd *descriptors, nfds_t count, int64_t deadline, int *closed);

/// The process has the bytes of files that are in memory already copied at once.
extern int cbc_reads_cached_at_once;

#endif
