// SPDX-License-Identifier: Apache-2.0
//
// Code as it is written by people who know nothing of coroutines. What fails is returned as -errno.
#ifndef CBLOCKING_CODE_H
#define CBLOCKING_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// sleep(3).
unsigned cbl_sleep(unsigned seconds);
/// usleep(3).
int cbl_usleep(unsigned microseconds);
/// nanosleep(2); `left` gets what it says is left.
int cbl_nanosleep(int64_t nanoseconds, int64_t *_Nullable left);
/// clock_nanosleep(2) to a moment so far from now.
int cbl_sleep_until(int64_t nanoseconds);
/// Sleeps on as long as it is told that the sleep was interrupted; returns how often that was.
int cbl_sleep_stubbornly(int64_t nanoseconds);

/// Reads and writes back until the end; returns the bytes.
long cbl_echo(int descriptor);
/// Writes so many messages and reads the answers; returns how many were right.
int cbl_talk(int descriptor, int messages);
/// The same with readv and writev.
int cbl_talk_vectored(int descriptor, int messages);
/// The same with recvmsg and sendmsg.
int cbl_talk_messages(int descriptor, int messages);
/// Reads until so many bytes have come.
long cbl_read_all(int descriptor, char *_Nonnull bytes, size_t count);

long cbl_read(int descriptor, void *_Nonnull bytes, size_t count);
long cbl_write(int descriptor, const void *_Nonnull bytes, size_t count);
long cbl_pread(int descriptor, void *_Nonnull bytes, size_t count, long offset);
long cbl_recv(int descriptor, void *_Nonnull bytes, size_t count, int flags);
long cbl_recv_all(int descriptor, void *_Nonnull bytes, size_t count);
long cbl_send(int descriptor, const void *_Nonnull bytes, size_t count);
/// What the compiler calls for recv in code built with _FORTIFY_SOURCE.
long cbl_recv_checked(int descriptor, void *_Nonnull bytes, size_t count);

/// poll of two descriptors for reading: 1, 2, 3 for both, 0 at the timeout.
int cbl_poll_two(int one, int two, int milliseconds);
/// poll of one descriptor for reading and writing: what it is ready for.
int cbl_poll_both_ways(int descriptor, int milliseconds);
/// ppoll of one descriptor for reading, with no signal masked meanwhile.
int cbl_poll_masked(int descriptor, int milliseconds);
/// The same as `cbl_poll_two` by select.
int cbl_select_two(int one, int two, int milliseconds);
/// The same by epoll.
int cbl_epoll_two(int one, int two, int milliseconds);

/// A socket that listens on 127.0.0.1 at a port that the system chooses.
int cbl_listen(int *_Nonnull port);
int cbl_accept(int listener);
int cbl_connect(int port);
/// Sets SO_RCVTIMEO or SO_SNDTIMEO.
int cbl_set_timeouts(int descriptor, int milliseconds);
int cbl_pair(int *_Nonnull ends);
int cbl_pipe(int *_Nonnull ends);
int cbl_close(int descriptor);
int cbl_dup(int descriptor);
int cbl_set_nonblocking(int descriptor, int nonblocking);
int cbl_is_nonblocking(int descriptor);

/// Starts a process that reads a byte from the descriptor and ends with it as its status.
int cbl_fork_reader(int descriptor, int to_be_closed);
/// Its status, by waitpid; waits.
int cbl_wait_for(int process);
/// The same by wait, for any child.
int cbl_wait_for_any(int *_Nonnull status);
/// Starts a process that locks the file, tells so by a byte, and ends when the descriptor is closed.
int cbl_fork_locker(const char *_Nonnull path, int tell, int until, int to_be_closed);
/// Locks a file; waits.
int cbl_flock(int descriptor);
int cbl_fsync(int descriptor);
/// A temporary file with so many bytes of 'x'.
int cbl_file(char *_Nonnull path, size_t count);
/// getaddrinfo(3); the number of answers.
int cbl_resolve(const char *_Nonnull host);

/// Handles SIGWINCH, without SA_RESTART, by counting.
void cbl_count_signals(void);
int cbl_signals(void);
/// Sends SIGWINCH to the calling thread.
void cbl_raise(void);
/// Starts a thread that sends SIGWINCH to the calling one until it is told to stop.
void cbl_bombard(void);
void cbl_stop_bombarding(void);

/// Sets errno, makes a call that parks and succeeds, and returns errno.
int cbl_errno_across(int value);

/// A library of the system's is there.
int cbl_has_library(const char *_Nonnull library);
/// PINGs by hiredis to 127.0.0.1; how many were answered.
int cbl_hiredis_ping(int port, int times);
/// Commands by libpq; how many were answered.
int cbl_libpq_queries(int port, int times);
/// A GET by libcurl; the bytes of its answer.
int cbl_libcurl_get(int port);

#endif
