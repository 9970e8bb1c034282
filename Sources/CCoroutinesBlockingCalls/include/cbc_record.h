// SPDX-License-Identifier: Apache-2.0
//
// What became of the calls, one record a call site.
#ifndef CBC_RECORD_H
#define CBC_RECORD_H

#include <stdint.h>

/// A call site and what happened there. Counters only; any thread adds to them.
typedef struct cbc_record {
  const void *_Nullable address;   ///< Where the call returns to.
  const char *_Nullable name;      ///< The call's name, a constant.
  uint64_t parked;                 ///< Calls that parked their coroutine.
  uint64_t offloaded;              ///< Calls done by another thread while it was parked.
  uint64_t passed;                 ///< Calls done at once, as libc does them.
  uint64_t blocked;                ///< Of the passed ones: those that kept the thread for long.
  int64_t longest_block;           ///< The longest of these, in nanoseconds.
} cbc_record_t;

/// Copies up to `capacity` records; returns how many there are.
long cbc_records_copy(cbc_record_t *_Nullable records, long capacity);

/// Sets all counters to zero.
void cbc_records_reset(void);

#endif
