// SPDX-License-Identifier: Apache-2.0
#pragma once

// The connections, and what goes to and fro on them.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { message_size = 64, response_limit = 512, ports_of_an_address = 20000 };

struct connection {
  int socket;
  bool broken;
  // Which message of the connection is on its way, and how much of the answer is here.
  uint32_t sequence, received;
  int64_t sent_at;
  // What has come of a response; NULL where messages are echoed.
  char *response;
};

struct protocol {
  void (*fill)(struct connection *, char message[message_size], size_t *size);
  // Reads what is there. 1: the answer is complete; 0: not yet; -1: it is wrong or has ended.
  int (*take)(struct connection *);
  bool keeps_response;
};

static struct connection *connections;
// Outstanding are the messages whose answers are not complete.
static long connection_count, broken_connections, outstanding, errors;
static const struct protocol *protocol;

static inline void fail(const char *what) {
  perror(what);
  exit(1);
}

static inline int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Counted once, told the first few times; the connection rests from then on.
static inline void give_up(struct connection *connection, const char *why) {
  if (errors++ < 3) fprintf(stderr, "connection %ld: %s\n", (long)(connection - connections), why);
  connection->broken = true;
  broken_connections++;
  outstanding--;
}

static inline void send_message(struct connection *connection, int64_t now) {
  char message[message_size];
  size_t size;
  connection->sequence++;
  connection->received = 0;
  connection->sent_at = now;
  outstanding++;
  protocol->fill(connection, message, &size);
  // Nothing else is in the socket, so it takes all.
  if (send(connection->socket, message, size, MSG_NOSIGNAL) != (ssize_t)size)
    give_up(connection, "send failed");
}

// Whether the answer is complete.
static inline bool receive(struct connection *connection) {
  int taken = protocol->take(connection);
  if (taken < 0) give_up(connection, "the answer is wrong, or the end");
  if (taken > 0) outstanding--;
  return taken > 0;
}

// Echo: no two messages of a run are alike, so that one of another connection would be found.

static inline void fill_echo(struct connection *connection, char message[message_size],
                             size_t *size) {
  uint64_t word = (uint64_t)(connection - connections) << 32 | connection->sequence;
  for (size_t i = 0; i < message_size; i += sizeof word) {
    word = word * 6364136223846793005 + 1442695040888963407;
    memcpy(message + i, &word, sizeof word);
  }
  *size = message_size;
}

static inline int take_echo(struct connection *connection) {
  char expected[message_size], answer[message_size];
  ssize_t count = recv(connection->socket, answer, message_size - connection->received, 0);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count <= 0) return -1;
  size_t size;
  fill_echo(connection, expected, &size);
  if (memcmp(expected + connection->received, answer, (size_t)count)) return -1;
  connection->received += (uint32_t)count;
  return connection->received == message_size;
}

// HTTP: the head may say what it likes, the length has to be right.

static inline void fill_http(struct connection *connection, char message[message_size],
                             size_t *size) {
  static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  (void)connection;
  memcpy(message, request, sizeof request - 1);
  *size = sizeof request - 1;
}

// What comes again and again was checked the first time.
static char known_response[response_limit];
static size_t known_size;

static inline int take_http(struct connection *connection) {
  static const char status[] = "HTTP/1.1 200 ", name[] = "\r\nContent-Length:",
                    body[] = "hello, world\n";
  char *response = connection->response;
  // One byte stays free for the zero.
  ssize_t count = recv(connection->socket, response + connection->received,
                       response_limit - 1 - connection->received, 0);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count <= 0) return -1;
  connection->received += (uint32_t)count;
  if (connection->received == known_size && !memcmp(response, known_response, known_size)) return 1;
  response[connection->received] = 0;
  const char *blank = strstr(response, "\r\n\r\n");
  if (!blank) return connection->received < response_limit - 1 ? 0 : -1;
  const char *length = strcasestr(response, name);
  if (strncmp(response, status, sizeof status - 1) || !length || length > blank) return -1;
  if (atoi(length + sizeof name - 1) != (int)sizeof body - 1) return -1;
  size_t whole = (size_t)(blank - response) + 4 + sizeof body - 1;
  if (connection->received < whole) return 0;
  if (connection->received != whole || strcmp(blank + 4, body)) return -1;
  memcpy(known_response, response, whole);
  known_size = whole;
  return 1;
}

static const struct protocol echo_protocol = {fill_echo, take_echo, false};
static const struct protocol http_protocol = {fill_http, take_http, true};

// An address of the loopback network has so many ports to connect from; further connections come from
// the next one.
static inline int connect_from(long index, int port) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (descriptor < 0) fail("socket");
  struct sockaddr_in here = {.sin_family = AF_INET}, there = here;
  if (index >= ports_of_an_address) {
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(index / ports_of_an_address));
    setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    if (bind(descriptor, (struct sockaddr *)&here, sizeof here)) fail("bind");
  }
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons((uint16_t)port);
  if (connect(descriptor, (struct sockaddr *)&there, sizeof there)) fail("connect");
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // A reset at the end: thousands of ports that linger would be the next run's burden.
  struct linger none = {.l_onoff = 1};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return descriptor;
}

static inline void open_connections(long count, int port, int poller) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files)) fail("getrlimit");
  // Root may have more than the hard limit says.
  rlim_t wanted = (rlim_t)count + 64;
  files.rlim_cur = wanted > files.rlim_max ? wanted : files.rlim_max;
  if (files.rlim_max < files.rlim_cur) files.rlim_max = files.rlim_cur;
  if (setrlimit(RLIMIT_NOFILE, &files)) fail("more connections than files may be open: setrlimit");
  connections = calloc((size_t)count, sizeof *connections);
  if (!connections) fail("calloc");
  connection_count = count;
  for (long i = 0; i < count; i++) {
    struct connection *connection = &connections[i];
    connection->socket = connect_from(i, port);
    if (protocol->keeps_response) connection->response = malloc(response_limit);
    if (protocol->keeps_response && !connection->response) fail("malloc");
    int flags = fcntl(connection->socket, F_GETFL);
    if (fcntl(connection->socket, F_SETFL, flags | O_NONBLOCK)) fail("fcntl");
    // Edges: an answer is over when its last byte is here, so no read has to find the socket empty.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event)) fail("epoll_ctl");
  }
}

static inline void close_connections(void) {
  for (long i = 0; i < connection_count; i++) close(connections[i].socket);
}
