// SPDX-License-Identifier: Apache-2.0
#pragma once

// As much of HTTP as the servers here speak; for C and C++.

#include <stddef.h>
#include <string.h>

#define RESPONSE \
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nhello, world\n"

enum { response_size = sizeof RESPONSE - 1 };

// How many requests end in these bytes. A request ends with an empty line; `matched` of its four bytes
// were the last ones of what came before.
static inline size_t requests_ended(const char *bytes, size_t count, unsigned *matched) {
  static const char empty_line[] = "\r\n\r\n";
  const char *end = bytes + count;
  size_t ended = 0;
  while (bytes < end) {
    if (*matched == 0) {
      // Most of a request is passed over at the speed of memchr.
      bytes = (const char *)memchr(bytes, '\r', (size_t)(end - bytes));
      if (!bytes) break;
    }
    char byte = *bytes++;
    *matched = byte == empty_line[*matched] ? *matched + 1 : byte == '\r';
    if (*matched == 4) {
      ended++;
      *matched = 0;
    }
  }
  return ended;
}
