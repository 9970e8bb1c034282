// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <string.h>
#include <unistd.h>

#include "cck_layout.h"
#include "cck_overflow.h"

static void put_bytes(const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

void cck_put(const char *text) { put_bytes(text, strlen(text)); }

void cck_print_error(const char *text) { cck_put(text); }

void cck_put_number(unsigned long long value) {
  char digits[24];
  char *end = digits + sizeof(digits) - 1;
  *end = 0;
  do {
    *--end = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  cck_put(end);
}

void cck_put_owner(const cck_stack_t *stack) {
  cck_put(stack->identifier == 0 ? "a generator" : "coroutine #");
  if (stack->identifier != 0) cck_put_number(stack->identifier);
  if (stack->label != NULL) {
    cck_put(" \"");
    cck_put(stack->label);
    cck_put("\"");
  }
}

void cck_put_launch(const char *before, const cck_stack_t *stack, const char *after) {
#if defined(CCK_CONTEXT_INLINE)  // the offsets are for words of 64 bits
  const char *fiber = __atomic_load_n(&stack->fiber, __ATOMIC_ACQUIRE);
  if (fiber == NULL) return;
  const char *file;
  uint32_t length;
  uint32_t line;
  memcpy(&file, fiber + CCK_FIBER_SITE_START, sizeof(file));
  memcpy(&length, fiber + CCK_FIBER_SITE_LENGTH, sizeof(length));
  memcpy(&line, fiber + CCK_FIBER_SITE_LINE, sizeof(line));
  // Memory may be damaged where a program crashes.
  if (file == NULL || length == 0 || length > 4096) return;
  cck_put(before);
  put_bytes(file, length);
  cck_put(":");
  cck_put_number(line);
  cck_put(after);
#else
  (void)before, (void)stack, (void)after;
#endif
}
