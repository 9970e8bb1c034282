// SPDX-License-Identifier: Apache-2.0
#include <gd.h>
#include <stdarg.h>

static inline void example_say_nothing(int priority, const char *format, va_list arguments) {
  (void)priority, (void)format, (void)arguments;
}

// A callback with a va_list, which Swift does not import: what cannot be decoded is told by the result.
static inline void example_silence_gd(void) { gdSetErrorMethod(example_say_nothing); }
