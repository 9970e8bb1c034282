// SPDX-License-Identifier: Apache-2.0
//
// When a handler of a signal may start a thread.
#ifndef CCK_MOMENT_H
#define CCK_MOMENT_H

/// Looks at what is loaded. 1 if `cck_moment_is_free` can ever be true in this process. To be called first, and
/// outside of handlers.
int cck_moment_prepare(void);

/// 1 if `pthread_create` may be called in the handler that has this machine context: the code that the signal
/// interrupted is in none of the C library's functions that it could come into conflict with.
int cck_moment_is_free(const void *_Nonnull machine_context);

/// 1 if the code that the signal interrupted waits in a system call; what it waits for may have to be asked for again.
int cck_moment_is_waiting(const void *_Nonnull machine_context);

#endif
