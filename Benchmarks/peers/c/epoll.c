// SPDX-License-Identifier: Apache-2.0

// A bare epoll server, the measure of all others: one thread, no coroutines, nothing allocated for an
// event.
// epoll echo | http

#define _GNU_SOURCE
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { input_size = 4096, responses_at_once = 64, events_at_once = 512 };

// What a connection remembers between two events. Its place in the table is its descriptor.
struct connection {
  // What the socket did not take: most connections never have anything of the kind.
  char *rest;
  uint32_t rest_begin, rest_end;
  unsigned matched;
};

static struct connection *connections;
static int poller;
static char input[input_size], responses[responses_at_once * response_size];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void end(int socket) {
  free(connections[socket].rest);
  connections[socket] = (struct connection){0};
  close(socket);
}

// Writes what it can and keeps the rest. False if the connection is broken.
static bool put(int socket, const char *bytes, size_t count) {
  struct connection *connection = &connections[socket];
  if (!connection->rest) {
    ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent == (ssize_t)count) return true;
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) {
      bytes += sent;
      count -= (size_t)sent;
    }
  }
  size_t kept = connection->rest_end;
  char *rest = realloc(connection->rest, kept + count);
  if (!rest) return false;
  memcpy(rest + kept, bytes, count);
  connection->rest = rest;
  connection->rest_end = (uint32_t)(kept + count);
  return true;
}

// Writes what was kept. True if all is written.
static bool put_rest(int socket) {
  struct connection *connection = &connections[socket];
  while (connection->rest_begin < connection->rest_end) {
    ssize_t sent = send(socket, connection->rest + connection->rest_begin,
                        connection->rest_end - connection->rest_begin, MSG_NOSIGNAL);
    if (sent < 0) return false;
    connection->rest_begin += (uint32_t)sent;
  }
  free(connection->rest);
  connection->rest = NULL;
  connection->rest_begin = connection->rest_end = 0;
  return true;
}

static bool echo(int socket, size_t count) { return put(socket, input, count); }

static bool http(int socket, size_t count) {
  size_t owed = requests_ended(input, count, &connections[socket].matched);
  while (owed > 0) {
    size_t now = owed < responses_at_once ? owed : responses_at_once;
    if (!put(socket, responses, now * response_size)) return false;
    owed -= now;
  }
  return true;
}

static bool (*answer)(int socket, size_t count);

// Edges: level-triggered, each event is polled once more to find that nothing is left, which took 4 to
// 7 % of the round trips. Less than was asked for means that the socket is empty; no second read has to
// find that.
static void serve(int socket, uint32_t happened) {
  if (connections[socket].rest && !put_rest(socket)) {
    if (happened & (EPOLLERR | EPOLLHUP)) end(socket);
    return;
  }
  for (;;) {
    ssize_t count = recv(socket, input, sizeof input, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0 || !answer(socket, (size_t)count)) return end(socket);
    // Reading goes on when the socket has taken the rest, whose edge is still to come.
    if (connections[socket].rest) return;
    if (count < (ssize_t)sizeof input && !(happened & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) return;
  }
}

static void watch(int descriptor, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = descriptor};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event)) fail("epoll_ctl");
}

static void accept_all(int listener) {
  for (;;) {
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      if (errno == EAGAIN) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      fail("accept4");
    }
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
}

static int listen_on_loopback(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) ||
      listen(listener, SOMAXCONN) || getsockname(listener, (struct sockaddr *)&address, &size))
    fail("listen");
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "echo")) answer = echo;
  if (argc == 2 && !strcmp(argv[1], "http")) answer = http;
  if (!answer) {
    fputs("usage: epoll echo | http\n", stderr);
    return 64;
  }
  for (int i = 0; i < responses_at_once; i++)
    memcpy(responses + i * response_size, RESPONSE, response_size);
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files)) fail("getrlimit");
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  // Zero pages until they are used.
  connections = calloc(files.rlim_cur, sizeof *connections);
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (!connections || poller < 0) fail("epoll_create1");
  int listener = listen_on_loopback();
  watch(listener, EPOLLIN);
  watch(STDIN_FILENO, EPOLLIN);
  static struct epoll_event events[events_at_once];
  for (;;) {
    int count = epoll_wait(poller, events, events_at_once, -1);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    for (int i = 0; i < count; i++) {
      int descriptor = events[i].data.fd;
      if (descriptor == listener)
        accept_all(listener);
      else if (descriptor != STDIN_FILENO)
        serve(descriptor, events[i].events);
      else if (read(STDIN_FILENO, input, sizeof input) <= 0)
        return 0;
    }
  }
}
