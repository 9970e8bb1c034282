// SPDX-License-Identifier: Apache-2.0

// Boost.Context: a bare stackful switch and what can be built on it at once.

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include "harness.hpp"

namespace ctx = boost::context;
using namespace harness;

static Outcome switches(long count) {
  long rounds = 0;
  ctx::fiber other([&](ctx::fiber &&caller) {
    for (;;) {
      rounds++;
      caller = std::move(caller).resume();
    }
    return std::move(caller);
  });
  for (long i = 0; i < count / 2; i++) other = std::move(other).resume();
  return rounds;
}

// A generator of numbers; yields from any depth.
class Generator {
public:
  class Yield {
  public:
    void operator()(long value) {
      generator.value = value;
      generator.caller = std::move(generator.caller).resume();
    }

  private:
    friend class Generator;
    explicit Yield(Generator &generator) : generator(generator) {}
    Generator &generator;
  };

  template <typename Stack, typename Body>
  Generator(Stack &&stack, Body body)
      : fiber(std::allocator_arg, std::forward<Stack>(stack),
              [this, body = std::move(body)](ctx::fiber &&from) mutable {
                caller = std::move(from);
                Yield yield(*this);
                body(yield);
                ended = true;
                return std::move(caller);
              }) {}

  Generator(const Generator &) = delete;

  bool next(long &result) {
    if (ended) return false;
    fiber = std::move(fiber).resume();
    result = value;
    return !ended;
  }

private:
  ctx::fiber fiber, caller;
  long value = 0;
  bool ended = false;
};

static ctx::pooled_fixedsize_stack &pool() {
  static ctx::pooled_fixedsize_stack stacks(small_stack);
  return stacks;
}

static Outcome generator_values(long count) {
  Generator numbers(pool(), [count](Generator::Yield &yield) {
    for (long number = 0; number < count; number++) yield(number);
  });
  long sum = 0, number;
  while (numbers.next(number)) sum += number;
  return sum;
}

static void visit(const Tree *tree, Generator::Yield &yield) {
  if (!tree) return;
  visit(tree->left.get(), yield);
  yield(tree->value);
  visit(tree->right.get(), yield);
}

static void visit_leaves(const Tree *tree, Generator::Yield &yield) {
  if (!tree->left) return yield(tree->value);
  visit_leaves(tree->left.get(), yield);
  visit_leaves(tree->right.get(), yield);
}

static Outcome tree_walk(long count) {
  auto tree = balanced(0, tree_values);
  long sum = 0, value;
  while (count > 0) {
    Generator values(pool(), [&](Generator::Yield &yield) { visit(tree.get(), yield); });
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
    Generator left(pool(), [&](Generator::Yield &yield) { visit_leaves(one.get(), yield); });
    Generator right(pool(), [&](Generator::Yield &yield) { visit_leaves(other.get(), yield); });
    while (count > 0 && left.next(a) && right.next(b)) {
      if (a == b) sum += a;
      count--;
    }
  }
  return sum;
}

static void permute(std::vector<int> &numbers, std::size_t place, Generator::Yield &yield) {
  if (place == numbers.size()) return yield(numbers.front() * 8 + numbers.back());
  for (auto other = place; other < numbers.size(); other++) {
    std::swap(numbers[place], numbers[other]);
    permute(numbers, place + 1, yield);
    std::swap(numbers[place], numbers[other]);
  }
}

static Outcome permutations(long count) {
  long sum = 0, value;
  while (count > 0) {
    Generator values(pool(), [](Generator::Yield &yield) {
      std::vector<int> numbers(permuted);
      for (int i = 0; i < permuted; i++) numbers[std::size_t(i)] = i;
      permute(numbers, 0, yield);
    });
    while (count > 0 && values.next(value)) {
      sum += value;
      count--;
    }
  }
  return sum;
}

static Outcome joins(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) {
    long value = 0;
    ctx::fiber child(std::allocator_arg, pool(), [&](ctx::fiber &&caller) {
      value = number;
      return std::move(caller);
    });
    child = std::move(child).resume();
    sum += value;
  }
  return sum;
}

static Outcome idle(long count) {
  std::vector<ctx::fiber> all;
  all.reserve(std::size_t(count));
  long ended = 0;
  Memory before;
  Stopwatch watch;
  for (long i = 0; i < count; i++) {
    all.emplace_back(std::allocator_arg, ctx::fixedsize_stack(small_stack),
                     [&](ctx::fiber &&caller) {
                       caller = std::move(caller).resume();
                       ended++;
                       return std::move(caller);
                     });
    all.back() = std::move(all.back()).resume();
  }
  auto elapsed = watch.elapsed();
  Memory after;
  Stopwatch ending;
  for (auto &fiber : all) fiber = std::move(fiber).resume();
  Outcome outcome(ended);
  outcome.elapsed = elapsed;
  after.add_growth(outcome, before, count);
  outcome.extras.emplace_back("end_ns", double(ending.elapsed().wall) / double(count));
  outcome.note = "no guard pages";
  return outcome;
}

int main(int argc, char **argv) {
  return run("boost-context",
             {
                 {"switch", switches},
                 {"generator", generator_values},
                 {"tree-walk", tree_walk},
                 {"same-fringe", same_fringe},
                 {"permutations", permutations},
                 {"launch-join", joins},
                 {"idle", idle, 1'000'000},
             },
             argc, argv);
}
