// SPDX-License-Identifier: Apache-2.0
#include "CCoroutinesTracing.h"

// C23, which clang has in all modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char library[] = {
#embed "Page/d3.min.js"
};
static const unsigned char script[] = {
#embed "Page/timeline.js"
};
static const unsigned char style[] = {
#embed "Page/timeline.css"
};
static const unsigned char body[] = {
#embed "Page/timeline.html"
};
static const unsigned char license[] = {
#embed "LICENSE-d3"
};

cct_file_t cct_library(void) { return (cct_file_t){library, sizeof library}; }
cct_file_t cct_script(void) { return (cct_file_t){script, sizeof script}; }
cct_file_t cct_style(void) { return (cct_file_t){style, sizeof style}; }
cct_file_t cct_body(void) { return (cct_file_t){body, sizeof body}; }
cct_file_t cct_license(void) { return (cct_file_t){license, sizeof license}; }
