// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "CCoroutinesIO.h"

const int cio_unknown_host = EAI_NONAME;

int cio_resolve(
    const char *host, uint16_t port, cio_address_t *addresses, int capacity, int *code) {
  struct addrinfo hints = {0};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)port);
  struct addrinfo *found = NULL;
  int result = getaddrinfo(host, service, &hints, &found);
  if (result != 0) {
    *code = result == EAI_SYSTEM ? errno : result;
    return result == EAI_SYSTEM ? -2 : -1;
  }
  int count = 0;
  for (struct addrinfo *each = found; each && count < capacity; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    memset(&addresses[count], 0, sizeof addresses[count]);
    memcpy(&addresses[count].storage, each->ai_addr, each->ai_addrlen);
    addresses[count].length = each->ai_addrlen;
    count++;
  }
  freeaddrinfo(found);
  return count;
}

const char *cio_resolution_text(int code) { return gai_strerror(code); }
