// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "CCoroutinesIO.h"

const int cio_bad_descriptor = EBADF;
const int cio_would_block = EAGAIN;
const int cio_interrupted = EINTR;
const int cio_in_progress = EINPROGRESS;
const int cio_timed_out = ETIMEDOUT;
const int cio_too_long = EMSGSIZE;
const int cio_invalid = EINVAL;
const int cio_broken_pipe = EPIPE;
const int cio_no_such_process = ESRCH;
const int cio_connection_aborted = ECONNABORTED;

int cio_is_shortage(int code) {
  return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

/// What the call returned, or the reason why it failed.
static long checked(long result) { return result < 0 ? -(long)errno : result; }

const char *cio_error_text(int code) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
  const char *text = strerrordesc_np(code);
  return text ? text : "unknown error";
#else
  return strerror(code);
#endif
}

long cio_close(int descriptor) { return checked(close(descriptor)); }

int cio_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

// MARK: - Bytes

#if defined(MSG_NOSIGNAL)
enum { send_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
#else
enum { send_flags = MSG_DONTWAIT };
#endif

long cio_receive(int socket, void *bytes, size_t count) {
  return checked(recv(socket, bytes, count, MSG_DONTWAIT));
}

long cio_send(int socket, const void *bytes, size_t count) {
  return checked(send(socket, bytes, count, send_flags));
}

long cio_read(int descriptor, void *bytes, size_t count) {
  return checked(read(descriptor, bytes, count));
}

long cio_write(int descriptor, const void *bytes, size_t count) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  long result = checked(write(descriptor, bytes, count));
  // The signal is for this thread, and is waiting now; one that waited before is not ours.
  if (result == -EPIPE && !sigismember(&pending, SIGPIPE)) {
#if defined(__APPLE__)
    int signal;
    sigwait(&pipe, &signal);
#else
    struct timespec now = {0, 0};
    while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) {
    }
#endif
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return result;
}

// MARK: - Descriptors

#if !defined(__linux__)
/// Between the making of the descriptor and this, another thread may start a program, which then has it.
static long prepare(long descriptor) {
  if (descriptor < 0) return -(long)errno;
  if (fcntl((int)descriptor, F_SETFD, FD_CLOEXEC) < 0 ||
      fcntl((int)descriptor, F_SETFL, fcntl((int)descriptor, F_GETFL) | O_NONBLOCK) < 0) {
    long code = -(long)errno;
    close((int)descriptor);
    return code;
  }
#if defined(SO_NOSIGPIPE)
  int on = 1;
  setsockopt((int)descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return descriptor;
}

static long prepare_both(long result, int ends[2]) {
  if (result < 0) return -(long)errno;
  long first = prepare(ends[0]);
  if (first < 0) {
    close(ends[1]);
    return first;
  }
  long second = prepare(ends[1]);
  if (second < 0) close(ends[0]);
  return second < 0 ? second : 0;
}
#endif

long cio_pipe(int ends[2]) {
#if defined(__linux__)
  return checked(pipe2(ends, O_CLOEXEC | O_NONBLOCK));
#else
  return prepare_both(pipe(ends), ends);
#endif
}

long cio_socket_pair(int ends[2]) {
#if defined(__linux__)
  return checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
#else
  return prepare_both(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ends);
#endif
}

long cio_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -(long)errno;
  return checked(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}

long cio_set_blocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -(long)errno;
  return checked(fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK));
}

int cio_short_read_is_all(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) < 0) return 0;
  if (S_ISFIFO(status.st_mode)) return 1;
  int type = 0;
  socklen_t length = sizeof type;
  return S_ISSOCK(status.st_mode) &&
         getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

long cio_is_socket(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) < 0) return -(long)errno;
  return S_ISSOCK(status.st_mode) ? 1 : 0;
}

// MARK: - Sockets

long cio_socket(cio_family_t family, int is_datagram) {
  int domain = family == cio_family_ipv4 ? AF_INET : family == cio_family_ipv6 ? AF_INET6 : AF_UNIX;
  int type = is_datagram ? SOCK_DGRAM : SOCK_STREAM;
#if defined(__linux__)
  return checked(socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
#else
  return prepare(socket(domain, type, 0));
#endif
}

long cio_connect(int socket, const cio_address_t *address) {
  return checked(connect(socket, (const struct sockaddr *)&address->storage, address->length));
}

long cio_connect_result(int socket) {
  int code = 0;
  socklen_t length = sizeof code;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) < 0) return -(long)errno;
  return -(long)code;
}

static long set(int socket, int level, int option, int value) {
  return checked(setsockopt(socket, level, option, &value, sizeof value));
}

long cio_bind(int socket, const cio_address_t *address, int reuses_port) {
  if (address->storage.ss_family != AF_UNIX) {
    // A server that starts again need not wait until connections of its predecessor are forgotten.
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    if (reuses_port) {
      long result = set(socket, SOL_SOCKET, SO_REUSEPORT, 1);
      if (result < 0) return result;
    }
  }
  return checked(bind(socket, (const struct sockaddr *)&address->storage, address->length));
}

long cio_bind_datagrams(int socket, const cio_address_t *address, int reuses_port) {
  if (reuses_port && address->storage.ss_family != AF_UNIX) {
    long result = set(socket, SOL_SOCKET, SO_REUSEPORT, 1);
    if (result < 0) return result;
  }
  return checked(bind(socket, (const struct sockaddr *)&address->storage, address->length));
}

long cio_listen(int socket, int backlog) { return checked(listen(socket, backlog)); }

long cio_accept(int listener, cio_address_t *peer) {
  struct sockaddr *storage = NULL;
  socklen_t *length = NULL;
  if (peer) {
    memset(peer, 0, sizeof *peer);
    peer->length = sizeof peer->storage;
    storage = (struct sockaddr *)&peer->storage;
    length = &peer->length;
  }
#if defined(__linux__)
  return checked(accept4(listener, storage, length, SOCK_CLOEXEC | SOCK_NONBLOCK));
#else
  return prepare(accept(listener, storage, length));
#endif
}

long cio_shut_down_writing(int socket) { return checked(shutdown(socket, SHUT_WR)); }

long cio_set_no_delay(int socket, int is_on) {
  return set(socket, IPPROTO_TCP, TCP_NODELAY, is_on);
}

long cio_set_reset_on_close(int socket) {
  struct linger linger = {1, 0};
  return checked(setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

long cio_set_broadcast(int socket) { return set(socket, SOL_SOCKET, SO_BROADCAST, 1); }

long cio_local_address(int socket, cio_address_t *address) {
  memset(address, 0, sizeof *address);
  address->length = sizeof address->storage;
  return checked(getsockname(socket, (struct sockaddr *)&address->storage, &address->length));
}

long cio_peer_address(int socket, cio_address_t *address) {
  memset(address, 0, sizeof *address);
  address->length = sizeof address->storage;
  return checked(getpeername(socket, (struct sockaddr *)&address->storage, &address->length));
}

long cio_send_to(int socket, const void *bytes, size_t count, const cio_address_t *address) {
  return checked(sendto(
      socket, bytes, count, send_flags, address ? (const struct sockaddr *)&address->storage : NULL,
      address ? address->length : 0));
}

long cio_receive_from(
    int socket, void *bytes, size_t count, cio_address_t *sender, int *is_cut) {
  memset(sender, 0, sizeof *sender);
  struct iovec buffer = {bytes, count};
  struct msghdr message = {0};
  message.msg_name = &sender->storage;
  message.msg_namelen = sizeof sender->storage;
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  long result = checked(recvmsg(socket, &message, MSG_DONTWAIT));
  sender->length = message.msg_namelen;
  *is_cut = (message.msg_flags & MSG_TRUNC) != 0;
  return result;
}
