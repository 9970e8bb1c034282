// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "cck_descriptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

uintptr_t cck_descriptor_chunks[CCK_DESCRIPTOR_CHUNKS];

typedef union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un local;
  struct sockaddr_storage room;
} address_t;

// `127.0.0.1:80`, `[::1]:80`, a path, or nothing.
static void name(const address_t *address, socklen_t length, char *text, size_t size) {
  char host[INET6_ADDRSTRLEN];
  text[0] = 0;
  if (address->any.sa_family == AF_INET && inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host))) {
    snprintf(text, size, "%s:%u", host, ntohs(address->v4.sin_port));
  } else if (address->any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host))) {
    snprintf(text, size, "[%s]:%u", host, ntohs(address->v6.sin6_port));
  } else if (address->any.sa_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path)) {
    snprintf(text, size, "%.*s", (int)(length - offsetof(struct sockaddr_un, sun_path)), address->local.sun_path);
  }
}

static int option(int socket, int number) {
  int value = 0;
  socklen_t length = sizeof(value);
  return getsockopt(socket, SOL_SOCKET, number, &value, &length) == 0 ? value : 0;
}

static void describe_socket(int socket, char *text, size_t size) {
  address_t own, other;
  memset(&own, 0, sizeof(own));
  memset(&other, 0, sizeof(other));
  socklen_t own_length = sizeof(own), other_length = sizeof(other);
  char own_name[128] = "", other_name[128] = "";
  if (getsockname(socket, &own.any, &own_length) == 0) name(&own, own_length, own_name, sizeof(own_name));
  if (getpeername(socket, &other.any, &other_length) == 0) {
    name(&other, other_length, other_name, sizeof(other_name));
  }
  int is_stream = option(socket, SO_TYPE) == SOCK_STREAM;
  const char *kind = own.any.sa_family == AF_UNIX ? "Unix socket" : is_stream ? "TCP" : "UDP";
  if (own.any.sa_family != AF_UNIX && own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6) kind = "socket";
  snprintf(
      text, size, "%s%s%s%s%s%s", kind, own_name[0] ? " " : "", own_name, other_name[0] ? " to " : "", other_name,
      option(socket, SO_ACCEPTCONN) ? ", listening" : "");
}

static void describe_other(int descriptor, mode_t mode, char *text, size_t size) {
#if defined(__linux__)
  char link[32];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, text, size - 1);
  if (length > 0 && text[0] == '/') {
    text[length] = 0;
    return;
  }
#else
  (void)descriptor;
#endif
  const char *kind = S_ISCHR(mode) ? "device" : S_ISREG(mode) ? "file" : "descriptor of the system's";
  snprintf(text, size, "%s", kind);
}

size_t cck_descriptor_describe(int descriptor, char *text, size_t size) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    snprintf(text, size, "closed");
  } else if (S_ISSOCK(status.st_mode)) {
    describe_socket(descriptor, text, size);
  } else if (S_ISFIFO(status.st_mode)) {
    snprintf(text, size, "pipe");
  } else {
    describe_other(descriptor, status.st_mode, text, size);
  }
  return strlen(text);
}
