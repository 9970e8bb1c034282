// SPDX-License-Identifier: Apache-2.0
//
// The machine's part of the coroutine kernel. Knows nothing of Swift but the runtime calls of
// cck_exclusivity.h.
#ifndef CCOROUTINE_KERNEL_H
#define CCOROUTINE_KERNEL_H

#include "cck_base.h"
#include "cck_context.h"
#include "cck_descriptor.h"
#include "cck_dispatch.h"
#include "cck_exclusivity.h"
#include "cck_frames.h"
#include "cck_layout.h"
#include "cck_lock.h"
#include "cck_object.h"
#include "cck_overflow.h"
#include "cck_parker.h"
#include "cck_poller.h"
#include "cck_sanitizer.h"
#include "cck_signal.h"
#include "cck_stack.h"
#include "cck_thread.h"
#include "cck_trace.h"

#endif
