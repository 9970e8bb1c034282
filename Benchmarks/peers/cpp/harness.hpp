// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

namespace harness {

inline std::int64_t clock_nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

inline std::int64_t now() { return clock_nanoseconds(CLOCK_MONOTONIC); }

// A time in nanoseconds: on the clock at the wall, and of all processors.
struct Elapsed {
  std::int64_t wall, processor;
};

struct Stopwatch {
  std::int64_t wall = clock_nanoseconds(CLOCK_MONOTONIC);
  std::int64_t processor = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

  Elapsed elapsed() const {
    return {clock_nanoseconds(CLOCK_MONOTONIC) - wall,
            clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor};
  }
};

struct Outcome {
  long result;
  // The times that count, if they are not those of the whole body.
  Elapsed elapsed{-1, -1};
  std::vector<std::pair<std::string, double>> extras;
  std::string note;

  Outcome(long result) : result(result) {}

  void add_overshoot(std::vector<std::int64_t> &nanoseconds) {
    if (nanoseconds.empty()) return;
    std::sort(nanoseconds.begin(), nanoseconds.end());
    auto at = [&](std::size_t index) { return double(nanoseconds[index]) / 1000; };
    extras.emplace_back("p50_us", at(nanoseconds.size() / 2));
    extras.emplace_back("p99_us", at(nanoseconds.size() * 99 / 100));
    extras.emplace_back("max_us", at(nanoseconds.size() - 1));
    // How many of a whole are at most 1, 2, 4, … µs.
    for (int power = 0; power <= 20; power++) {
      auto above = std::upper_bound(nanoseconds.begin(), nanoseconds.end(), 1000L << power);
      extras.emplace_back("le_" + std::to_string(1 << power) + "_us",
                          double(above - nanoseconds.begin()) / double(nanoseconds.size()));
    }
  }
};

// One benchmark; 0 operations finds out how many take 0.3 s.
struct Row {
  std::string name;
  std::function<Outcome(long)> body;
  long operations = 0;
  bool warms_up = false;
};

[[noreturn]] inline void fail(const char *message) {
  std::fprintf(stderr, "%s\n", message);
  std::exit(64);
}

inline long calibrate(const Row &row) {
  for (long count = 100;; count *= 10) {
    Stopwatch watch;
    row.body(count);
    auto wall = watch.elapsed().wall;
    if (wall > 30'000'000) return std::max(1L, long(double(count) * 3e8 / double(wall)));
  }
}

inline int run(const char *peer, const std::vector<Row> &rows, int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "list")) {
    for (auto &row : rows) std::puts(row.name.c_str());
    return 0;
  }
  if (argc != 2 && !(argc == 4 && !std::strcmp(argv[2], "--operations")))
    fail("usage: PROGRAM list | ROW [--operations N]");
  for (auto &row : rows) {
    if (row.name != argv[1]) continue;
    long count = argc == 4 ? std::atol(argv[3]) : row.operations;
    if (argc == 4 && count < 1) fail("--operations needs a number of 1 or more");
    if (count == 0)
      count = calibrate(row);
    else if (row.warms_up || row.operations == 0)
      row.body(std::max(1L, count / 10));
    Stopwatch watch;
    auto outcome = row.body(count);
    auto elapsed = watch.elapsed();
    if (outcome.elapsed.wall >= 0) elapsed = outcome.elapsed;
    std::printf("{\"row\": \"%s\", \"peer\": \"%s\", \"operations\": %ld, \"ns\": %.6g, "
                "\"cpu_ns\": %.6g, \"result\": %ld",
                row.name.c_str(), peer, count, double(elapsed.wall) / double(count),
                double(elapsed.processor) / double(count), outcome.result);
    for (auto &[name, value] : outcome.extras) std::printf(", \"%s\": %.6g", name.c_str(), value);
    if (!outcome.note.empty()) std::printf(", \"note\": \"%s\"", outcome.note.c_str());
    std::puts("}");
    return 0;
  }
  fail("no such row");
}

// Numbers that look random and are the same in all programs.
struct Xorshift {
  std::uint64_t state = 88172645463325252;

  explicit Xorshift(std::uint64_t seed = 0) { state += seed * 2654435761; }

  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

struct Tree {
  std::unique_ptr<Tree> left, right;
  int value;
};

inline std::unique_ptr<Tree> balanced(int low, int high) {
  if (low >= high) return nullptr;
  int middle = (low + high) / 2;
  return std::make_unique<Tree>(Tree{balanced(low, middle), balanced(middle + 1, high), middle});
}

// The numbers of a range in the leaves, one in so many to the left.
inline std::unique_ptr<Tree> leaves(int low, int high, int share) {
  if (high - low <= 1) return std::make_unique<Tree>(Tree{nullptr, nullptr, low});
  int middle = low + std::max(1, (high - low) / share);
  return std::make_unique<Tree>(Tree{leaves(low, middle, share), leaves(middle, high, share), -1});
}

// What the rows have in common, in all languages.
constexpr int tree_values = 4095, fringe = 1024, permuted = 8, ring = 503, creatures = 10,
              big_actors = 100, fan = 64, chain = 1000, contenders = 8;

constexpr std::size_t small_stack = 64 * 1024;

// Resident pages and page tables, in bytes.
struct Memory {
  double resident = 0, tables = 0;

  Memory() {
    if (FILE *file = std::fopen("/proc/self/status", "r")) {
      char line[256];
      long kib;
      while (std::fgets(line, sizeof line, file)) {
        if (std::sscanf(line, "VmRSS: %ld", &kib) == 1) resident = double(kib) * 1024;
        if (std::sscanf(line, "VmPTE: %ld", &kib) == 1) tables = double(kib) * 1024;
      }
      std::fclose(file);
    }
  }

  void add_growth(Outcome &outcome, const Memory &start, long count) const {
    double rss = (resident - start.resident) / double(count);
    double pte = (tables - start.tables) / double(count);
    outcome.extras.emplace_back("bytes", rss + pte);
    outcome.extras.emplace_back("rss_bytes", rss);
    outcome.extras.emplace_back("pte_bytes", pte);
  }
};

} // namespace harness
