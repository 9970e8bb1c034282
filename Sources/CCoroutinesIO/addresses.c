// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "CCoroutinesIO.h"

void cio_make_ipv4(cio_address_t *address, const uint8_t bytes[4], uint16_t port) {
  memset(address, 0, sizeof *address);
  struct sockaddr_in *internet = (struct sockaddr_in *)&address->storage;
  internet->sin_family = AF_INET;
  internet->sin_port = htons(port);
  memcpy(&internet->sin_addr, bytes, 4);
  address->length = sizeof *internet;
}

void cio_make_ipv6(
    cio_address_t *address, const uint8_t bytes[16], uint16_t port, uint32_t scope) {
  memset(address, 0, sizeof *address);
  struct sockaddr_in6 *internet = (struct sockaddr_in6 *)&address->storage;
  internet->sin6_family = AF_INET6;
  internet->sin6_port = htons(port);
  internet->sin6_scope_id = scope;
  memcpy(&internet->sin6_addr, bytes, 16);
  address->length = sizeof *internet;
}

long cio_make_unix(cio_address_t *address, const char *path) {
  memset(address, 0, sizeof *address);
  struct sockaddr_un *local = (struct sockaddr_un *)&address->storage;
  size_t length = strlen(path);
  if (length >= sizeof local->sun_path) return -ENAMETOOLONG;
  local->sun_family = AF_UNIX;
  memcpy(local->sun_path, path, length + 1);
  address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
  return 0;
}

cio_family_t cio_family_of(const cio_address_t *address) {
  switch (address->storage.ss_family) {
    case AF_INET: return cio_family_ipv4;
    case AF_INET6: return cio_family_ipv6;
    case AF_UNIX: return cio_family_unix;
    default: return cio_family_other;
  }
}

void cio_bytes(const cio_address_t *address, uint8_t bytes[16]) {
  memset(bytes, 0, 16);
  if (address->storage.ss_family == AF_INET) {
    memcpy(bytes, &((const struct sockaddr_in *)&address->storage)->sin_addr, 4);
  } else if (address->storage.ss_family == AF_INET6) {
    memcpy(bytes, &((const struct sockaddr_in6 *)&address->storage)->sin6_addr, 16);
  }
}

uint16_t cio_port(const cio_address_t *address) {
  // Both have the port in the same place.
  return ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
}

uint32_t cio_scope(const cio_address_t *address) {
  if (address->storage.ss_family != AF_INET6) return 0;
  return ((const struct sockaddr_in6 *)&address->storage)->sin6_scope_id;
}

void cio_path(const cio_address_t *address, char path[256]) {
  const struct sockaddr_un *local = (const struct sockaddr_un *)&address->storage;
  size_t start = offsetof(struct sockaddr_un, sun_path);
  size_t length = address->length > start ? address->length - start : 0;
  // Paths end with a zero or with the address; a name that begins with one is no path.
  if (length > sizeof local->sun_path) length = sizeof local->sun_path;
  memcpy(path, local->sun_path, length);
  path[length] = 0;
}

int cio_parse(const char *text, uint16_t port, cio_address_t *address) {
  uint8_t bytes[16];
  if (inet_pton(AF_INET, text, bytes) == 1) {
    cio_make_ipv4(address, bytes, port);
    return 1;
  }
  if (inet_pton(AF_INET6, text, bytes) == 1) {
    cio_make_ipv6(address, bytes, port, 0);
    return 1;
  }
  return 0;
}
