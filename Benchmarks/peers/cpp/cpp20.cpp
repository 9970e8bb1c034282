// SPDX-License-Identifier: Apache-2.0

// The language's own coroutines: stackless, a frame on the heap for each call.

#include <coroutine>
#include <exception>

#include "harness.hpp"

using namespace harness;

// A generator of numbers.
class Generator {
public:
  struct promise_type {
    long value = 0;
    Generator get_return_object() { return Generator(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long number) noexcept {
      value = number;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() { std::terminate(); }
  };

  using Handle = std::coroutine_handle<promise_type>;

  Generator(Generator &&other) noexcept : handle(std::exchange(other.handle, {})) {}
  ~Generator() {
    if (handle) handle.destroy();
  }

  bool next(long &result) {
    handle.resume();
    if (handle.done()) return false;
    result = handle.promise().value;
    return true;
  }

private:
  explicit Generator(Handle handle) : handle(handle) {}
  Handle handle;
};

// Made out of line, so that what is measured is not one function after inlining.
[[gnu::noinline]] static Generator endless(long &rounds) {
  for (;;) {
    rounds++;
    co_yield 0;
  }
}

static Outcome switches(long count) {
  long rounds = 0, value;
  auto other = endless(rounds);
  for (long i = 0; i < count / 2; i++) other.next(value);
  return rounds;
}

[[gnu::noinline]] static Generator upto(long count) {
  for (long number = 0; number < count; number++) co_yield number;
}

static Outcome generator_values(long count) {
  auto numbers = upto(count);
  long sum = 0, number;
  while (numbers.next(number)) sum += number;
  return sum;
}

// Stackless: each level has a generator of its own and passes on what the one below yields.
static Generator visit(const Tree *tree) {
  long value;
  if (tree->left)
    for (auto values = visit(tree->left.get()); values.next(value);) co_yield value;
  co_yield tree->value;
  if (tree->right)
    for (auto values = visit(tree->right.get()); values.next(value);) co_yield value;
}

static Generator visit_leaves(const Tree *tree) {
  if (!tree->left) {
    co_yield tree->value;
    co_return;
  }
  long value;
  for (auto values = visit_leaves(tree->left.get()); values.next(value);) co_yield value;
  for (auto values = visit_leaves(tree->right.get()); values.next(value);) co_yield value;
}

static Outcome tree_walk(long count) {
  auto tree = balanced(0, tree_values);
  long sum = 0, value;
  while (count > 0) {
    auto values = visit(tree.get());
    while (count > 0 && values.next(value)) {
      sum += value;
      count--;
    }
  }
  return sum;
}

static Outcome same_fringe(long count) {
  auto one = leaves(0, fringe, 2), other = leaves(0, fringe, 8);
  long sum = 0, a, b;
  while (count > 0) {
    auto left = visit_leaves(one.get()), right = visit_leaves(other.get());
    while (count > 0 && left.next(a) && right.next(b)) {
      if (a == b) sum += a;
      count--;
    }
  }
  return sum;
}

static Generator permute(std::vector<int> &numbers, std::size_t place) {
  if (place == numbers.size()) {
    co_yield numbers.front() * 8 + numbers.back();
    co_return;
  }
  long value;
  for (auto other = place; other < numbers.size(); other++) {
    std::swap(numbers[place], numbers[other]);
    for (auto values = permute(numbers, place + 1); values.next(value);) co_yield value;
    std::swap(numbers[place], numbers[other]);
  }
}

static Outcome permutations(long count) {
  long sum = 0, value;
  while (count > 0) {
    std::vector<int> numbers(permuted);
    for (int i = 0; i < permuted; i++) numbers[std::size_t(i)] = i;
    auto values = permute(numbers, 0);
    while (count > 0 && values.next(value)) {
      sum += value;
      count--;
    }
  }
  return sum;
}

// A task that another one awaits, each going on in the other by symmetric transfer.
class Task {
public:
  struct promise_type {
    long value = 0;
    std::coroutine_handle<> continuation;
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Back {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> own) noexcept {
          auto next = own.promise().continuation;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Back{};
    }
    void return_value(long number) noexcept { value = number; }
    void unhandled_exception() { std::terminate(); }
  };

  using Handle = std::coroutine_handle<promise_type>;

  Task(Task &&other) noexcept : handle(std::exchange(other.handle, {})) {}
  ~Task() {
    if (handle) handle.destroy();
  }

  bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle.promise().continuation = caller;
    return handle;
  }
  long await_resume() noexcept { return handle.promise().value; }

  long run() {
    handle.resume();
    return handle.promise().value;
  }

private:
  explicit Task(Handle handle) : handle(handle) {}
  Handle handle;
};

[[gnu::noinline]] static Task identity(long number) { co_return number; }

static Task sum_of(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) sum += co_await identity(number);
  co_return sum;
}

static Outcome joins(long count) { return sum_of(count).run(); }

[[gnu::noinline]] static Task skynet_node(long first, long size) {
  if (size == 1) co_return first;
  long part = size / 10, sum = 0;
  for (long number = 0; number < 10; number++)
    sum += co_await skynet_node(first + number * part, part);
  co_return sum;
}

static Outcome skynet(long leaves) {
  long size = 1;
  while (size * 10 <= leaves) size *= 10;
  Outcome outcome(skynet_node(0, size).run());
  outcome.note = "calls that await one another; no scheduler";
  return outcome;
}

[[gnu::noinline]] static Generator one(long &ended) {
  co_yield 0;
  ended++;
}

static Outcome idle(long count) {
  std::vector<Generator> all;
  all.reserve(std::size_t(count));
  long ended = 0, value;
  Memory before;
  Stopwatch watch;
  for (long i = 0; i < count; i++) {
    all.push_back(one(ended));
    all.back().next(value);
  }
  auto elapsed = watch.elapsed();
  Memory after;
  Stopwatch ending;
  for (auto &generator : all) generator.next(value);
  Outcome outcome(ended);
  outcome.elapsed = elapsed;
  after.add_growth(outcome, before, count);
  outcome.extras.emplace_back("end_ns", double(ending.elapsed().wall) / double(count));
  outcome.note = "stackless";
  return outcome;
}

int main(int argc, char **argv) {
  return run("cpp20",
             {
                 {"switch", switches},
                 {"generator", generator_values},
                 {"tree-walk", tree_walk},
                 {"same-fringe", same_fringe},
                 {"permutations", permutations},
                 {"launch-join", joins},
                 {"skynet", skynet, 1'000'000, true},
                 {"idle", idle, 1'000'000},
             },
             argc, argv);
}
