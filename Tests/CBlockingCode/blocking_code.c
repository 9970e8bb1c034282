// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CBlockingCode.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OR_ERROR(expression)                                                                       \
  ({                                                                                               \
    __typeof__(expression) outcome = (expression);                                                 \
    outcome < 0 ? -errno : outcome;                                                                \
  })

// MARK: - Sleeping

unsigned cbl_sleep(unsigned seconds) { return sleep(seconds); }

int cbl_usleep(unsigned microseconds) { return OR_ERROR(usleep(microseconds)); }

static struct timespec time_of(int64_t nanoseconds) {
  return (struct timespec){
      .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

int cbl_nanosleep(int64_t nanoseconds, int64_t *left) {
  struct timespec time = time_of(nanoseconds);
  struct timespec rest = {0};
  int result = OR_ERROR(nanosleep(&time, &rest));
  if (left != NULL) *left = rest.tv_sec * 1000000000 + rest.tv_nsec;
  return result;
}

int cbl_sleep_until(int64_t nanoseconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct timespec time = time_of(now.tv_sec * 1000000000 + now.tv_nsec + nanoseconds);
  return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

int cbl_sleep_stubbornly(int64_t nanoseconds) {
  struct timespec left = time_of(nanoseconds);
  int interruptions = 0;
  while (nanosleep(&left, &left) != 0 && errno == EINTR) interruptions++;
  return interruptions;
}

// MARK: - Talking

long cbl_echo(int descriptor) {
  char bytes[256];
  long total = 0;
  while (1) {
    ssize_t count = read(descriptor, bytes, sizeof(bytes));
    if (count < 0) return -errno;
    if (count == 0) return total;
    if (write(descriptor, bytes, (size_t)count) != count) return -errno;
    total += count;
  }
}

int cbl_talk(int descriptor, int messages) {
  for (int number = 0; number < messages; number++) {
    char question[32];
    char answer[32] = {0};
    int length = snprintf(question, sizeof(question), "message %d", number);
    if (write(descriptor, question, (size_t)length) != length) return -errno;
    if (cbl_read_all(descriptor, answer, (size_t)length) != length) return -errno;
    if (memcmp(question, answer, (size_t)length) != 0) return number;
  }
  return messages;
}

int cbl_talk_vectored(int descriptor, int messages) {
  for (int number = 0; number < messages; number++) {
    char one[4] = "abc", two[4] = "def", answer[8] = {0};
    struct iovec question[2] = {{one, 3}, {two, 3}};
    if (writev(descriptor, question, 2) != 6) return -errno;
    struct iovec reply[2] = {{answer, 2}, {answer + 2, 4}};
    if (readv(descriptor, reply, 2) != 6) return -errno;
    if (strcmp(answer, "abcdef") != 0) return number;
  }
  return messages;
}

int cbl_talk_messages(int descriptor, int messages) {
  for (int number = 0; number < messages; number++) {
    char bytes[4] = "abc", answer[4] = {0};
    struct iovec buffer = {bytes, 3};
    struct msghdr question = {.msg_iov = &buffer, .msg_iovlen = 1};
    if (sendmsg(descriptor, &question, 0) != 3) return -errno;
    struct iovec room = {answer, 3};
    struct msghdr reply = {.msg_iov = &room, .msg_iovlen = 1};
    if (recvmsg(descriptor, &reply, 0) != 3) return -errno;
    if (strcmp(answer, "abc") != 0) return number;
  }
  return messages;
}

long cbl_read_all(int descriptor, char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    ssize_t more = read(descriptor, bytes + done, count - done);
    if (more < 0) return -errno;
    if (more == 0) break;
    done += (size_t)more;
  }
  return (long)done;
}

long cbl_read(int descriptor, void *bytes, size_t count) {
  return OR_ERROR(read(descriptor, bytes, count));
}

long cbl_write(int descriptor, const void *bytes, size_t count) {
  return OR_ERROR(write(descriptor, bytes, count));
}

long cbl_pread(int descriptor, void *bytes, size_t count, long offset) {
  return OR_ERROR(pread(descriptor, bytes, count, offset));
}

long cbl_recv(int descriptor, void *bytes, size_t count, int flags) {
  return OR_ERROR(recv(descriptor, bytes, count, flags));
}

long cbl_recv_all(int descriptor, void *bytes, size_t count) {
  return OR_ERROR(recv(descriptor, bytes, count, MSG_WAITALL));
}

long cbl_send(int descriptor, const void *bytes, size_t count) {
  return OR_ERROR(send(descriptor, bytes, count, MSG_NOSIGNAL));
}

extern ssize_t __recv_chk(int, void *, size_t, size_t, int);

long cbl_recv_checked(int descriptor, void *bytes, size_t count) {
  return OR_ERROR(__recv_chk(descriptor, bytes, count, count, 0));
}

// MARK: - Several at once

int cbl_poll_two(int one, int two, int milliseconds) {
  struct pollfd both[2] = {{.fd = one, .events = POLLIN}, {.fd = two, .events = POLLIN}};
  int count = poll(both, 2, milliseconds);
  if (count < 0) return -errno;
  return (both[0].revents != 0 ? 1 : 0) + (both[1].revents != 0 ? 2 : 0);
}

int cbl_poll_both_ways(int descriptor, int milliseconds) {
  struct pollfd one = {.fd = descriptor, .events = POLLIN | POLLOUT};
  int count = poll(&one, 1, milliseconds);
  return count < 0 ? -errno : one.revents;
}

int cbl_poll_masked(int descriptor, int milliseconds) {
  struct pollfd one = {.fd = descriptor, .events = POLLIN};
  struct timespec time = time_of((int64_t)milliseconds * 1000000);
  sigset_t none;
  sigemptyset(&none);
  return OR_ERROR(ppoll(&one, 1, &time, &none));
}

int cbl_select_two(int one, int two, int milliseconds) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(one, &set);
  FD_SET(two, &set);
  struct timeval time = {
      .tv_sec = milliseconds / 1000, .tv_usec = (suseconds_t)(milliseconds % 1000) * 1000};
  int count = select((one > two ? one : two) + 1, &set, NULL, NULL, milliseconds < 0 ? NULL : &time);
  if (count < 0) return -errno;
  return (FD_ISSET(one, &set) ? 1 : 0) + (FD_ISSET(two, &set) ? 2 : 0);
}

int cbl_epoll_two(int one, int two, int milliseconds) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event first = {.events = EPOLLIN, .data.u32 = 1};
  struct epoll_event second = {.events = EPOLLIN, .data.u32 = 2};
  epoll_ctl(set, EPOLL_CTL_ADD, one, &first);
  epoll_ctl(set, EPOLL_CTL_ADD, two, &second);
  struct epoll_event found[2];
  int count = epoll_wait(set, found, 2, milliseconds);
  int result = count < 0 ? -errno : 0;
  for (int index = 0; index < count; index++) result += (int)found[index].data.u32;
  close(set);
  return result;
}

// MARK: - Connections and descriptors

int cbl_listen(int *port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(address);
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 128) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    return -errno;
  }
  *port = ntohs(address.sin_port);
  return listener;
}

int cbl_accept(int listener) {
  struct sockaddr_in address;
  socklen_t length = sizeof(address);
  int connection = OR_ERROR(accept(listener, (struct sockaddr *)&address, &length));
  if (connection >= 0 && address.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) return -EINVAL;
  return connection;
}

int cbl_connect(int port) {
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0) {
    int error = errno;
    close(connection);
    return -error;
  }
  return connection;
}

int cbl_set_timeouts(int descriptor, int milliseconds) {
  struct timeval time = {
      .tv_sec = milliseconds / 1000, .tv_usec = (suseconds_t)(milliseconds % 1000) * 1000};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
  return OR_ERROR(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)));
}

int cbl_pair(int *ends) {
  return OR_ERROR(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
}

int cbl_pipe(int *ends) { return OR_ERROR(pipe2(ends, O_CLOEXEC)); }

int cbl_close(int descriptor) { return OR_ERROR(close(descriptor)); }

int cbl_dup(int descriptor) { return OR_ERROR(dup(descriptor)); }

int cbl_set_nonblocking(int descriptor, int nonblocking) {
  int flags = fcntl(descriptor, F_GETFL);
  flags = nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  return OR_ERROR(fcntl(descriptor, F_SETFL, flags));
}

int cbl_is_nonblocking(int descriptor) { return (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0; }

// MARK: - Processes and files

int cbl_fork_reader(int descriptor, int to_be_closed) {
  pid_t process = fork();
  if (process != 0) return OR_ERROR(process);
  unsigned char status = 255;
  close(to_be_closed);
  if (read(descriptor, &status, 1) != 1) _exit(254);
  _exit(status);
}

static int status_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1000; }

int cbl_wait_for(int process) {
  int status = 0;
  if (waitpid(process, &status, 0) < 0) return -errno;
  return status_of(status);
}

int cbl_wait_for_any(int *status) {
  int word = 0;
  pid_t process = wait(&word);
  *status = status_of(word);
  return OR_ERROR(process);
}

int cbl_fork_locker(const char *path, int tell, int until, int to_be_closed) {
  pid_t process = fork();
  if (process != 0) return OR_ERROR(process);
  close(to_be_closed);
  int file = open(path, O_RDWR);
  char byte = 'x';
  if (flock(file, LOCK_EX) != 0 || write(tell, &byte, 1) != 1) _exit(1);
  _exit(read(until, &byte, 1) == 0 ? 0 : 2);
}

int cbl_flock(int descriptor) { return OR_ERROR(flock(descriptor, LOCK_EX)); }

int cbl_fsync(int descriptor) { return OR_ERROR(fsync(descriptor)); }

int cbl_file(char *path, size_t count) {
  int file = mkostemp(path, O_CLOEXEC);
  if (file < 0) return -errno;
  char *bytes = malloc(count + 1);
  memset(bytes, 'x', count);
  ssize_t written = write(file, bytes, count);
  free(bytes);
  lseek(file, 0, SEEK_SET);
  return written == (ssize_t)count ? file : -EIO;
}

int cbl_resolve(const char *host) {
  struct addrinfo *answer = NULL;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  int error = getaddrinfo(host, "80", &hints, &answer);
  if (error == EAI_SYSTEM) return -errno;
  if (error != 0) return -1000;
  int count = 0;
  for (struct addrinfo *one = answer; one != NULL; one = one->ai_next) count++;
  freeaddrinfo(answer);
  return count;
}

// MARK: - Signals

static int signals;

static void count_signal(int number) {
  (void)number;
  __atomic_add_fetch(&signals, 1, __ATOMIC_SEQ_CST);
}

void cbl_count_signals(void) {
  struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGWINCH, &action, NULL);
}

static void unblock(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int cbl_signals(void) { return __atomic_load_n(&signals, __ATOMIC_SEQ_CST); }

void cbl_raise(void) {
  unblock();
  pthread_kill(pthread_self(), SIGWINCH);
}

static int bombards;
static pthread_t bomber;

static void *bombard(void *target) {
  while (__atomic_load_n(&bombards, __ATOMIC_SEQ_CST)) {
    pthread_kill((pthread_t)target, SIGWINCH);
    struct timespec time = time_of(1000000);
    nanosleep(&time, NULL);
  }
  return NULL;
}

void cbl_bombard(void) {
  unblock();
  __atomic_store_n(&bombards, 1, __ATOMIC_SEQ_CST);
  pthread_create(&bomber, NULL, bombard, (void *)pthread_self());
}

void cbl_stop_bombarding(void) {
  __atomic_store_n(&bombards, 0, __ATOMIC_SEQ_CST);
  pthread_join(bomber, NULL);
}

int cbl_errno_across(int value) {
  errno = value;
  if (usleep(1000) != 0) return -1;
  return errno;
}
