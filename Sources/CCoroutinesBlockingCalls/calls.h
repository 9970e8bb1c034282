// SPDX-License-Identifier: Apache-2.0
//
// Every call that is taken over, by name: CBC_CALLS(X) expands X(name) for each.
#ifndef CBC_CALLS_H
#define CBC_CALLS_H

// A checking variant that the compiler puts in place of a call must not come back here twice.
#undef _FORTIFY_SOURCE
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#endif

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__GLIBC__)
// What the compiler calls instead of some calls in code built with _FORTIFY_SOURCE. No header declares
// them to those who do not use it.
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

#define CBC_CALLS_OF_GLIBC(X)                                                                      \
  X(ppoll) X(epoll_wait) X(epoll_pwait) X(accept4) X(recvmmsg) X(sendmmsg)                        \
  X(pread64) X(preadv64) X(pwrite64) X(pwritev64) X(fdatasync) X(dup3) X(clock_nanosleep)         \
  X(__read_chk) X(__pread_chk) X(__pread64_chk) X(__recv_chk) X(__recvfrom_chk) X(__poll_chk)     \
  X(__ppoll_chk)
#else
#define CBC_CALLS_OF_GLIBC(X)
#endif

#define CBC_CALLS(X)                                                                               \
  X(sleep) X(usleep) X(nanosleep) X(poll) X(select) X(pselect)                                    \
  X(read) X(readv) X(pread) X(preadv) X(write) X(writev) X(pwrite) X(pwritev)                     \
  X(recv) X(recvfrom) X(recvmsg) X(send) X(sendto) X(sendmsg) X(accept) X(connect)                \
  X(getaddrinfo) X(wait) X(waitpid) X(wait3) X(wait4) X(waitid) X(flock) X(fsync)                 \
  X(close) X(dup2) CBC_CALLS_OF_GLIBC(X)

/// libc's own, as the next library after this one defines them.
struct cbc_real {
#define CBC_DECLARE(name) __typeof__(&name) name;
  CBC_CALLS(CBC_DECLARE)
#undef CBC_DECLARE
};

#if defined(__GLIBC__)

extern struct cbc_real cbc_real;
void cbc_find_real(void);

/// libc's own definition. Looked up when the program starts, or now if something was faster.
#define REAL(name)                                                                                 \
  (__builtin_expect(cbc_real.name != NULL, 1) ? cbc_real.name : (cbc_find_real(), cbc_real.name))

/// How a call is named here, and made known to the others. Nothing to do: the dynamic linker takes the
/// first definition it meets, and a program comes before the libraries.
#define CBC_NAME(name) __attribute__((visibility("default"))) name
#define CBC_INTERPOSE(name)

#elif defined(__APPLE__)

// Never run: dyld puts these in place of the others everywhere but in the image that has them.
#define REAL(name) name
#define CBC_NAME(name) cbc_call_##name
#define CBC_INTERPOSE(name)                                                                        \
  __attribute__((used, section("__DATA,__interpose"))) static const struct {                       \
    const void *replacement, *original;                                                            \
  } cbc_interpose_##name = {(const void *)&cbc_call_##name, (const void *)&name};

#else

// Another C library: programs may be linked with it statically, and then nothing stands behind us.
#define REAL(name) name
#define CBC_NAME(name) __attribute__((unused)) cbc_call_##name
#define CBC_INTERPOSE(name)

#endif

#endif
