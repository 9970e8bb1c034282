// SPDX-License-Identifier: Apache-2.0
//
// The files of the page that shows a trace; see Page/.
#ifndef CCOROUTINES_TRACING_H
#define CCOROUTINES_TRACING_H

#include <stddef.h>

/// A file's bytes, for the whole life of the program.
typedef struct cct_file {
  const unsigned char *_Nonnull bytes;
  size_t count;
} cct_file_t;

/// What draws: scales, axes, zoom.
cct_file_t cct_library(void);
/// The page's own script.
cct_file_t cct_script(void);
/// Its colours and its layout.
cct_file_t cct_style(void);
/// Its body.
cct_file_t cct_body(void);
/// The library's licence.
cct_file_t cct_license(void);

#endif
