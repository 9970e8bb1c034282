// SPDX-License-Identifier: Apache-2.0
//
// Runs code one instruction at a time, and looks at the thread after each as handlers of signals do.
#ifndef CSINGLESTEP_H
#define CSINGLESTEP_H

#include <stdint.h>

/// What was seen.
typedef struct css_tally {
  uint64_t looks;    ///< Instructions that were looked at.
  uint64_t empty;    ///< Looks that gave not even the place.
  uint64_t midway;   ///< Looks in the middle of a switch.
} css_tally_t;

/// From here on the calling thread stops at each instruction (SIGTRAP). 0, or an error number; ENOTSUP where the
/// processor cannot, or not in a way that is written here.
int css_begin(void);

/// Up to here.
css_tally_t css_end(void);

#endif
