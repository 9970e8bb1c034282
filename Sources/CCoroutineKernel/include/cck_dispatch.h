// SPDX-License-Identifier: Apache-2.0
//
// The few calls of libdispatch that its Swift face does not offer: which queue runs this code, and
// operations on a queue that is known by its pointer only. On Linux every access to a queue in Swift
// makes a new wrapper object, so queues are told apart by these pointers.
#ifndef CCK_DISPATCH_H
#define CCK_DISPATCH_H

#include "cck_base.h"

typedef void (*cck_dispatch_function_t)(void *_Nullable context);

/// The serial-or-custom queue that runs this code, or null: outside any queue, or on one of the
/// system's global concurrent queues. On the main thread, outside any block, it is the main queue.
void *_Nullable cck_dispatch_current_queue(void);

/// The queue of the innermost block that the calling thread is in, whatever its kind; for comparing only.
void *_Nullable cck_dispatch_innermost_queue(void);

/// Runs `work(context)` on the queue, later.
void cck_dispatch_async(
    void *_Nonnull queue, void *_Nullable context, cck_dispatch_function_t _Nonnull work);

/// The object that `cck_dispatch_set_attachment` left on this very queue, or null.
void *_Nullable cck_dispatch_attachment(void *_Nonnull queue);

/// Leaves an object on the queue; `destroy` is called with it when the queue is freed.
void cck_dispatch_set_attachment(
    void *_Nonnull queue, void *_Nullable object, cck_dispatch_function_t _Nullable destroy);

void cck_dispatch_retain(void *_Nonnull object);
void cck_dispatch_release(void *_Nonnull object);

/// A timer that calls `fire(context)` on the queue; not armed yet.
void *_Nonnull cck_dispatch_timer_make(
    void *_Nonnull queue, void *_Nullable context, cck_dispatch_function_t _Nonnull fire);

/// Arms the timer once, `delay` nanoseconds from now, instead of whatever it was armed for.
void cck_dispatch_timer_arm(void *_Nonnull timer, int64_t delay);

/// Stops the timer for good and frees it.
void cck_dispatch_timer_free(void *_Nonnull timer);

#endif
