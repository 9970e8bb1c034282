// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() __asm__ volatile("yield")
#endif

// A time in nanoseconds: on the clock at the wall, and of all processors.
struct elapsed {
  int64_t wall, processor;
};

struct stopwatch {
  int64_t wall, processor;
};

static inline int64_t clock_nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline struct stopwatch start_stopwatch(void) {
  return (struct stopwatch){clock_nanoseconds(CLOCK_MONOTONIC),
                            clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static inline struct elapsed elapsed_since(struct stopwatch start) {
  return (struct elapsed){clock_nanoseconds(CLOCK_MONOTONIC) - start.wall,
                          clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start.processor};
}

struct extra {
  const char *name;
  double value;
};

struct outcome {
  long result;
  // Whether `elapsed` counts, and not the time of the whole body.
  bool has_elapsed;
  struct elapsed elapsed;
  struct extra extras[4];
  int extra_count;
  const char *note;
};

static inline struct outcome result(long number) { return (struct outcome){.result = number}; }

struct row {
  const char *name;
  struct outcome (*body)(long);
  // 0 finds out how many take 0.3 s.
  long operations;
  bool warms_up;
};

static inline void fail(const char *message) {
  fprintf(stderr, "%s\n", message);
  exit(64);
}

struct memory {
  double resident, tables;
};

static inline struct memory memory_now(void) {
  struct memory memory = {0, 0};
  char line[256];
  long kib;
  FILE *file = fopen("/proc/self/status", "r");
  if (!file) return memory;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) memory.resident = (double)kib * 1024;
    if (sscanf(line, "VmPTE: %ld", &kib) == 1) memory.tables = (double)kib * 1024;
  }
  fclose(file);
  return memory;
}

static inline void add_growth(struct outcome *outcome, struct memory start, long count) {
  struct memory end = memory_now();
  double rss = (end.resident - start.resident) / (double)count;
  double tables = (end.tables - start.tables) / (double)count;
  outcome->extras[outcome->extra_count++] = (struct extra){"bytes", rss + tables};
  outcome->extras[outcome->extra_count++] = (struct extra){"rss_bytes", rss};
  outcome->extras[outcome->extra_count++] = (struct extra){"pte_bytes", tables};
}

static inline long calibrate(const struct row *row) {
  for (long count = 100;; count *= 10) {
    struct stopwatch watch = start_stopwatch();
    row->body(count);
    int64_t wall = elapsed_since(watch).wall;
    if (wall > 30000000) {
      long wanted = (long)((double)count * 3e8 / (double)wall);
      return wanted > 0 ? wanted : 1;
    }
  }
}

static inline int run(const char *peer, const struct row *rows, size_t row_count, int argc,
                      char **argv) {
  if (argc == 2 && !strcmp(argv[1], "list")) {
    for (size_t i = 0; i < row_count; i++) puts(rows[i].name);
    return 0;
  }
  if (argc != 2 && !(argc == 4 && !strcmp(argv[2], "--operations")))
    fail("usage: PROGRAM list | ROW [--operations N]");
  for (const struct row *row = rows; row < rows + row_count; row++) {
    if (strcmp(row->name, argv[1])) continue;
    long count = argc == 4 ? atol(argv[3]) : row->operations;
    if (argc == 4 && count < 1) fail("--operations needs a number of 1 or more");
    if (count == 0)
      count = calibrate(row);
    else if (row->warms_up || row->operations == 0)
      row->body(count >= 10 ? count / 10 : 1);
    struct stopwatch watch = start_stopwatch();
    struct outcome outcome = row->body(count);
    struct elapsed elapsed = elapsed_since(watch);
    if (outcome.has_elapsed) elapsed = outcome.elapsed;
    printf("{\"row\": \"%s\", \"peer\": \"%s\", \"operations\": %ld, \"ns\": %.6g, "
           "\"cpu_ns\": %.6g, \"result\": %ld",
           row->name, peer, count, (double)elapsed.wall / (double)count,
           (double)elapsed.processor / (double)count, outcome.result);
    for (int i = 0; i < outcome.extra_count; i++)
      printf(", \"%s\": %.6g", outcome.extras[i].name, outcome.extras[i].value);
    if (outcome.note) printf(", \"note\": \"%s\"", outcome.note);
    puts("}");
    return 0;
  }
  fail("no such row");
  return 64;
}
