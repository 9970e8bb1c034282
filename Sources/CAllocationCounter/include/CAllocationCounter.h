// SPDX-License-Identifier: Apache-2.0
//
// Counts the process's calls of malloc and its kin, by standing in for them. For benchmarks only.
#ifndef CALLOCATION_COUNTER_H
#define CALLOCATION_COUNTER_H

#include <stdint.h>

/// Allocations of the calling thread so far, or -1 where they cannot be counted (only glibc lets us).
int64_t allocation_count(void);

#endif
