// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <stddef.h>

#include "CCoroutinesBlockingCalls.h"

// A table that only grows, found by hashing; who comes when it is full shares the last record. A site is
// never taken out, so its place can be found and counted in without a lock.
#define SITES 4096

typedef struct slot {
  uintptr_t key;  ///< Of the address and the name, which tail calls may share an address with; 0: free.
  uintptr_t address;
  const char *name;
  uint64_t parked, offloaded, passed, blocked;
  int64_t longest_block;
} slot_t;

static slot_t slots[SITES + 1];

static slot_t *find(uintptr_t address, const char *name) {
  uintptr_t key = address ^ (uintptr_t)name << 20;
  size_t start = (size_t)((key * 0x9E3779B97F4A7C15u) >> 52);
  for (size_t step = 0; step < SITES; step++) {
    slot_t *slot = &slots[(start + step) % SITES];
    uintptr_t found = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
    if (found == key) return slot;
    if (found != 0) continue;
    if (__atomic_compare_exchange_n(
            &slot->key, &found, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      __atomic_store_n(&slot->address, address, __ATOMIC_RELAXED);
      __atomic_store_n(&slot->name, name, __ATOMIC_RELEASE);
      return slot;
    }
    if (found == key) return slot;
  }
  return &slots[SITES];
}

static void add(uint64_t *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

void cbc_record_add(
    const void *site, const char *name, int parked, int offloaded, int64_t block) {
  slot_t *slot = find((uintptr_t)site, name);
  if (offloaded) {
    add(&slot->offloaded);
  } else if (parked) {
    add(&slot->parked);
  } else {
    add(&slot->passed);
  }
  if (block <= 0) return;
  add(&slot->blocked);
  int64_t longest = __atomic_load_n(&slot->longest_block, __ATOMIC_RELAXED);
  while (block > longest && !__atomic_compare_exchange_n(
                                &slot->longest_block, &longest, block, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED)) {
  }
}

long cbc_records_copy(cbc_record_t *records, long capacity) {
  long count = 0;
  for (size_t index = 0; index <= SITES; index++) {
    slot_t *slot = &slots[index];
    cbc_record_t record = {
        .address = (const void *)__atomic_load_n(&slot->address, __ATOMIC_RELAXED),
        .name = __atomic_load_n(&slot->name, __ATOMIC_ACQUIRE),
        .parked = __atomic_load_n(&slot->parked, __ATOMIC_RELAXED),
        .offloaded = __atomic_load_n(&slot->offloaded, __ATOMIC_RELAXED),
        .passed = __atomic_load_n(&slot->passed, __ATOMIC_RELAXED),
        .blocked = __atomic_load_n(&slot->blocked, __ATOMIC_RELAXED),
        .longest_block = __atomic_load_n(&slot->longest_block, __ATOMIC_RELAXED),
    };
    if (record.parked + record.offloaded + record.passed == 0) continue;
    if (count < capacity && records != NULL) records[count] = record;
    count++;
  }
  return count;
}

void cbc_records_reset(void) {
  for (size_t index = 0; index <= SITES; index++) {
    slot_t *slot = &slots[index];
    __atomic_store_n(&slot->parked, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->offloaded, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->passed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->blocked, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->longest_block, 0, __ATOMIC_RELAXED);
  }
}
