// SPDX-License-Identifier: Apache-2.0
#ifndef CBC_RECORD_ADD_H
#define CBC_RECORD_ADD_H

#include <stdint.h>

/// Adds a call to its site's record. `block` is how long it kept its thread, 0 if not worth telling.
void cbc_record_add(
    const void *site, const char *name, int parked, int offloaded, int64_t block);

#endif
