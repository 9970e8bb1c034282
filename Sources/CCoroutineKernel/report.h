// SPDX-License-Identifier: Apache-2.0
//
// What handlers of signals write to standard error. All of it may be called there.
#ifndef CCK_REPORT_H
#define CCK_REPORT_H

#include <signal.h>

#include "cck_stack.h"

void cck_put(const char *_Nonnull text);

void cck_put_number(unsigned long long value);

/// Writes who is on a stack: `coroutine #7 "fetch"`, or `a generator`.
void cck_put_owner(const cck_stack_t *_Nonnull stack);

/// Writes where the coroutine on the stack was launched, `Program/main.swift:12`, between the two texts; nothing if there
/// is none, or that is not known.
void cck_put_launch(
    const char *_Nonnull before, const cck_stack_t *_Nonnull stack, const char *_Nonnull after);

/// Writes a report if an access to this address was a stack overflow. Returns 1 if so.
int cck_overflow_report(const void *_Nullable address);

/// Installs the handlers that tell which coroutine crashes, once in a process.
void cck_crash_install(void);

/// What deals with a signal, not counting those handlers. Returns 0, or -1 with errno set.
int cck_crash_find(int number, struct sigaction *_Nonnull action);

#endif
