// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many round trips took how long, in buckets a 32nd wide of what they count: exact to 3 %.

#include <stdint.h>
#include <string.h>

enum { bucket_bits = 5, bucket_count = 64 << bucket_bits };

static uint64_t latencies[bucket_count];
static int64_t longest;

static inline unsigned bucket_of(uint64_t value) {
  if (value < 1 << bucket_bits) return (unsigned)value;
  unsigned shift = 63 - (unsigned)__builtin_clzll(value) - bucket_bits;
  return (shift << bucket_bits) + (unsigned)(value >> shift);
}

// The middle of a bucket, in nanoseconds.
static inline double value_of(unsigned bucket) {
  if (bucket < 2 << bucket_bits) return bucket;
  unsigned shift = (bucket >> bucket_bits) - 1;
  return ((double)(bucket - (shift << bucket_bits)) + 0.5) * (double)(1ull << shift);
}

static inline void record_latency(int64_t nanoseconds) {
  latencies[bucket_of((uint64_t)nanoseconds)]++;
  if (nanoseconds > longest) longest = nanoseconds;
}

static inline void forget_latencies(void) {
  memset(latencies, 0, sizeof latencies);
  longest = 0;
}

// What such a share of the round trips took at most, in microseconds.
static inline double latency_at(double share) {
  uint64_t all = 0, passed = 0;
  for (unsigned i = 0; i < bucket_count; i++) all += latencies[i];
  for (unsigned i = 0; i < bucket_count; i++) {
    passed += latencies[i];
    if (all && (double)passed >= share * (double)all) return value_of(i) / 1000;
  }
  return 0;
}

static inline double greatest_latency(void) { return (double)longest / 1000; }
