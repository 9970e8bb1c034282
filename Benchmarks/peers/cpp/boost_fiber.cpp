// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber: fibers with a scheduler per thread, channels, futures.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <boost/fiber/all.hpp>

#include "harness.hpp"

namespace fibers = boost::fibers;
using namespace harness;
using Numbers = fibers::unbuffered_channel<long>;
using BufferedNumbers = fibers::buffered_channel<long>;

// Stacks that are used again.
static fibers::pooled_fixedsize_stack &pool() {
  static fibers::pooled_fixedsize_stack stacks(small_stack);
  return stacks;
}

template <typename Body> static fibers::fiber spawn(Body &&body) {
  return fibers::fiber(std::allocator_arg, pool(), std::forward<Body>(body));
}

// Runs the body at once, as far as it gets.
template <typename Body> static fibers::fiber spawn_now(Body &&body) {
  return fibers::fiber(fibers::launch::dispatch, std::allocator_arg, pool(),
                       std::forward<Body>(body));
}

static Outcome yields(long count) {
  long rounds = 0;
  bool over = false;
  auto other = spawn([&] {
    while (!over) {
      rounds++;
      boost::this_fiber::yield();
    }
  });
  for (long i = 0; i < count / 2; i++) boost::this_fiber::yield();
  long result = rounds;
  over = true;
  other.join();
  return result;
}

static Outcome joins(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) {
    long value = 0;
    spawn_now([&value, number] { value = number; }).join();
    sum += value;
  }
  return sum;
}

static Outcome launches(long count) {
  long ended = 0;
  for (long start = 0; start < count; start += 1000) {
    long stop = std::min(start + 1000, count);
    for (long i = start; i < stop; i++) spawn([&] { ended++; }).detach();
    while (ended < stop) boost::this_fiber::yield();
  }
  return ended;
}

static long skynet_node(long first, long size) {
  if (size == 1) return first;
  long part = size / 10, results[10];
  fibers::fiber children[10];
  for (long number = 0; number < 10; number++)
    children[number] = spawn_now([=, &results] {
      results[number] = skynet_node(first + number * part, part);
    });
  long sum = 0;
  for (long number = 0; number < 10; number++) {
    children[number].join();
    sum += results[number];
  }
  return sum;
}

static Outcome skynet(long leaves) {
  long size = 1;
  while (size * 10 <= leaves) size *= 10;
  return skynet_node(0, size);
}

template <typename Channel> static Outcome send(Channel &numbers, long count) {
  auto producer = spawn([&] {
    for (long number = 0; number < count; number++) numbers.push(number);
    numbers.close();
  });
  long sum = 0, number;
  while (numbers.pop(number) == fibers::channel_op_status::success) sum += number;
  producer.join();
  return sum;
}

static Outcome handover(long count) {
  Numbers numbers;
  return send(numbers, count);
}

// A channel of 2ⁿ places keeps one free: this one holds 127.
static Outcome buffered(long count) {
  BufferedNumbers numbers(128);
  return send(numbers, count);
}

static Outcome fan_in(long count) {
  Numbers numbers;
  std::vector<fibers::fiber> producers;
  for (long producer = 0; producer < fan; producer++)
    producers.push_back(spawn([&, producer] {
      for (long number = producer; number < count; number += fan) numbers.push(number);
    }));
  long sum = 0;
  for (long i = 0; i < count; i++) sum += numbers.value_pop();
  for (auto &producer : producers) producer.join();
  return sum;
}

static Outcome fan_out(long count) {
  Numbers numbers;
  long sum = 0;
  std::vector<fibers::fiber> consumers;
  for (long consumer = 0; consumer < fan; consumer++)
    consumers.push_back(spawn([&] {
      long number;
      while (numbers.pop(number) == fibers::channel_op_status::success) sum += number;
    }));
  for (long number = 0; number < count; number++) numbers.push(number);
  numbers.close();
  for (auto &consumer : consumers) consumer.join();
  return sum;
}

static Outcome handover_between(long count) {
  Numbers numbers;
  std::thread other([&] {
    for (long number = 0; number < count; number++) numbers.push(number);
    numbers.close();
  });
  long sum = 0, number;
  while (numbers.pop(number) == fibers::channel_op_status::success) sum += number;
  other.join();
  return sum;
}

// Two producers and two consumers on each of two threads.
static Outcome four_by_four(long count) {
  BufferedNumbers numbers(128);
  std::atomic<long> sum = 0;
  std::atomic<int> producers = 4;
  auto half = [&](long first) {
    std::vector<fibers::fiber> all;
    for (long producer : {first, first + 1}) {
      all.emplace_back([&, producer] {
        for (long number = producer; number < count; number += 4) numbers.push(number);
        if (--producers == 0) numbers.close();
      });
      all.emplace_back([&] {
        long mine = 0, number;
        while (numbers.pop(number) == fibers::channel_op_status::success) mine += number;
        sum += mine;
      });
    }
    for (auto &fiber : all) fiber.join();
  };
  std::thread other(half, 2);
  half(0);
  other.join();
  return sum.load();
}

static Outcome promises(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) {
    fibers::promise<long> promise;
    auto future = promise.get_future();
    promise.set_value(number);
    sum += future.get();
  }
  return sum;
}

// One makes a promise and parks; the other settles it and yields.
static Outcome parked_promises(long count) {
  fibers::promise<long> *slot = nullptr;
  bool over = false;
  auto other = spawn([&] {
    for (long number = 0; !over; boost::this_fiber::yield())
      if (auto promise = std::exchange(slot, nullptr)) promise->set_value(number++);
  });
  long sum = 0;
  for (long i = 0; i < count; i++) {
    fibers::promise<long> promise;
    auto future = promise.get_future();
    slot = &promise;
    sum += future.get();
  }
  over = true;
  other.join();
  return sum;
}

// A link is a fiber that waits for the one before it: futures have no continuations.
static Outcome promise_chain(long count) {
  long sum = 0;
  for (long start = 0; start < count; start += chain) {
    fibers::promise<long> head;
    auto last = head.get_future();
    for (long i = start; i < std::min(start + chain, count); i++) {
      fibers::promise<long> next;
      auto future = next.get_future();
      spawn([last = std::move(last), next = std::move(next)]() mutable {
        next.set_value(last.get() + 1);
      }).detach();
      last = std::move(future);
    }
    head.set_value(0);
    sum += last.get();
  }
  return sum;
}

struct Request {
  long number;
  fibers::promise<long> reply;
};

static Outcome ask(long count) {
  fibers::buffered_channel<Request> requests(16);
  auto counter = spawn([&] {
    long total = 0;
    Request request;
    while (requests.pop(request) == fibers::channel_op_status::success) {
      total += request.number;
      request.reply.set_value(total);
    }
  });
  long last = 0;
  for (long i = 0; i < count; i++) {
    Request request{1, {}};
    auto reply = request.reply.get_future();
    requests.push(std::move(request));
    last = reply.get();
  }
  requests.close();
  counter.join();
  return last;
}

// Everybody yields with the mutex held, so that it always has waiters.
static Outcome mutex(long count) {
  fibers::mutex lock;
  long total = 0;
  std::vector<fibers::fiber> all;
  for (long contender = 0; contender < contenders; contender++)
    all.push_back(spawn([&, contender] {
      for (long i = contender; i < count; i += contenders) {
        std::unique_lock<fibers::mutex> hold(lock);
        total++;
        boost::this_fiber::yield();
      }
    }));
  for (auto &fiber : all) fiber.join();
  return total;
}

static Outcome thread_ring(long hops) {
  auto links = std::make_unique<Numbers[]>(ring);
  fibers::promise<long> last;
  std::vector<fibers::fiber> all;
  for (long number = 0; number < ring; number++)
    all.push_back(spawn([&, number] {
      auto &next = links[std::size_t(number + 1) % ring];
      long token;
      while (links[std::size_t(number)].pop(token) == fibers::channel_op_status::success)
        if (token > 0)
          next.push(token - 1);
        else
          last.set_value(number);
    }));
  links[0].push(hops);
  long winner = last.get_future().get();
  for (long number = 0; number < ring; number++) links[std::size_t(number)].close();
  for (auto &fiber : all) fiber.join();
  return winner;
}

struct Visit {
  int colour;
  fibers::unbuffered_channel<int> *answer;
};

static Outcome chameneos(long meetings) {
  fibers::unbuffered_channel<Visit> mall;
  long total = 0;
  std::vector<fibers::fiber> all;
  for (int creature = 0; creature < creatures; creature++)
    all.push_back(spawn([&, creature] {
      fibers::unbuffered_channel<int> answer;
      int colour = creature % 3;
      for (;;) {
        mall.push({colour, &answer});
        int other = answer.value_pop();
        if (other < 0) return;
        if (other != colour) colour = 3 - colour - other;
        total++;
      }
    }));
  for (long i = 0; i < meetings; i++) {
    auto one = mall.value_pop(), other = mall.value_pop();
    one.answer->push(other.colour);
    other.answer->push(one.colour);
  }
  for (int creature = 0; creature < creatures; creature++) mall.value_pop().answer->push(-1);
  for (auto &fiber : all) fiber.join();
  return total;
}

struct Ball {
  bool is_ping;
  int from;
};

// A mailbox has room for all the messages that can be under way.
static Outcome big(long count) {
  using Mailbox = fibers::buffered_channel<Ball>;
  std::vector<std::unique_ptr<Mailbox>> players;
  for (int i = 0; i < big_actors; i++) players.push_back(std::make_unique<Mailbox>(256));
  long handled = 0;
  int playing = big_actors;
  std::vector<fibers::fiber> all;
  for (int number = 0; number < big_actors; number++)
    all.push_back(spawn([&, number] {
      long left = count / big_actors + (number < count % big_actors ? 1 : 0);
      Xorshift random{std::uint64_t(number)};
      auto ping_next = [&] {
        if (left-- > 0)
          players[random.next() % big_actors]->push({true, number});
        else if (--playing == 0)
          for (auto &player : players) player->close();
      };
      ping_next();
      Ball ball;
      while (players[std::size_t(number)]->pop(ball) == fibers::channel_op_status::success)
        if (ball.is_ping) {
          handled++;
          players[std::size_t(ball.from)]->push({false, number});
        } else {
          ping_next();
        }
    }));
  for (auto &fiber : all) fiber.join();
  return handled;
}

static Outcome sleeps(long count) {
  Xorshift random;
  std::vector<std::int64_t> overshoot;
  overshoot.reserve(std::size_t(count));
  std::vector<fibers::fiber> all;
  all.reserve(std::size_t(count));
  long slept = 0;
  for (long i = 0; i < count; i++) {
    long length = long(1 + random.next() % 1000);
    all.push_back(spawn([&, length] {
      auto start = now();
      boost::this_fiber::sleep_for(std::chrono::milliseconds(length));
      overshoot.push_back(now() - start - length * 1'000'000);
      slept += length;
    }));
    if (i % 1024 == 1023) boost::this_fiber::yield();
  }
  for (auto &fiber : all) fiber.join();
  Outcome outcome(slept);
  outcome.add_overshoot(overshoot);
  return outcome;
}

// Fibers cannot be cancelled: they sleep on a condition that ends it.
static Outcome cancellation(long count) {
  fibers::mutex lock;
  fibers::condition_variable condition;
  bool over = false;
  long ended = 0, asleep = 0;
  std::vector<fibers::fiber> all;
  all.reserve(std::size_t(count));
  Stopwatch making;
  for (long i = 0; i < count; i++)
    all.push_back(spawn([&] {
      std::unique_lock<fibers::mutex> hold(lock);
      asleep++;
      condition.wait_for(hold, std::chrono::hours(1), [&] { return over; });
      ended++;
    }));
  while (asleep < count) boost::this_fiber::yield();
  auto made = making.elapsed();
  Stopwatch watch;
  over = true;
  condition.notify_all();
  for (auto &fiber : all) fiber.join();
  Outcome outcome(ended);
  outcome.elapsed = watch.elapsed();
  outcome.extras.emplace_back("create_ns", double(made.wall) / double(count));
  outcome.note = "a condition stands in for cancellation";
  return outcome;
}

static Outcome idle(long count) {
  fibers::mutex lock;
  fibers::condition_variable gate;
  bool open = false;
  long ended = 0, asleep = 0;
  Memory before;
  Stopwatch watch;
  for (long i = 0; i < count; i++)
    fibers::fiber(std::allocator_arg, fibers::fixedsize_stack(small_stack), [&] {
      std::unique_lock<fibers::mutex> hold(lock);
      asleep++;
      gate.wait(hold, [&] { return open; });
      ended++;
    }).detach();
  while (asleep < count) boost::this_fiber::yield();
  auto elapsed = watch.elapsed();
  Memory after;
  Stopwatch ending;
  open = true;
  gate.notify_all();
  while (ended < count) boost::this_fiber::yield();
  Outcome outcome(ended);
  outcome.elapsed = elapsed;
  after.add_growth(outcome, before, count);
  outcome.extras.emplace_back("end_ns", double(ending.elapsed().wall) / double(count));
  outcome.note = "no guard pages";
  return outcome;
}

// So many fibers that yield in turn, from when all have begun until all have ended.
static Outcome crowd(long size, long count) {
  long rounds = std::max(1L, count / size), begun = 0, ended = 0, yields = 0;
  Stopwatch watch;
  Elapsed elapsed{0, 0};
  for (long i = 0; i < size; i++)
    fibers::fiber(std::allocator_arg, fibers::fixedsize_stack(small_stack), [&] {
      if (++begun == size) watch = Stopwatch();
      for (long round = 0; round < rounds; round++) {
        boost::this_fiber::yield();
        yields++;
      }
      if (++ended == size) elapsed = watch.elapsed();
    }).detach();
  while (ended < size) boost::this_fiber::sleep_for(std::chrono::milliseconds(1));
  Outcome outcome(yields);
  outcome.elapsed = elapsed;
  return outcome;
}

static Outcome many_to_many(long count, int producers, int consumers) {
  BufferedNumbers numbers(128);
  int working = producers;
  long sum = 0;
  std::vector<fibers::fiber> all;
  for (long producer = 0; producer < producers; producer++)
    all.push_back(spawn([&, producer] {
      for (long number = producer; number < count; number += producers) numbers.push(number);
      if (--working == 0) numbers.close();
    }));
  for (int consumer = 0; consumer < consumers; consumer++)
    all.push_back(spawn([&] {
      long number;
      while (numbers.pop(number) == fibers::channel_op_status::success) sum += number;
    }));
  for (auto &fiber : all) fiber.join();
  return sum;
}

int main(int argc, char **argv) {
  std::vector<Row> rows{
      {"yield", yields},
      {"launch-join", joins},
      {"launch", launches},
      {"handover", handover},
      {"buffered128", buffered},
      {"promise", promises},
      {"promise-park", parked_promises},
      {"promise-chain", promise_chain},
      {"ask", ask},
      {"skynet", skynet, 1'000'000, true},
      {"handover-2", handover_between},
      {"buffered128-4x4", four_by_four},
      {"timers", sleeps, 100'000},
      {"cancel-sleepers", cancellation, 100'000},
      {"idle", idle, 1'000'000},
      {"mutex", mutex},
      {"fan-in", fan_in},
      {"fan-out", fan_out},
      {"thread-ring", thread_ring},
      {"chameneos", chameneos},
      {"big", big},
  };
  for (long size : {1, 10, 100, 1000, 10'000, 100'000, 1'000'000})
    rows.push_back({"crowd-" + std::to_string(size),
                    [size](long count) { return crowd(size, count); }, std::max(1'000'000L, 10 * size)});
  for (int producers : {1, 4, 16, 64})
    for (int consumers : {1, 4, 16, 64})
      rows.push_back({"grid-" + std::to_string(producers) + "x" + std::to_string(consumers),
                      [=](long count) { return many_to_many(count, producers, consumers); }});
  return run("boost-fiber", rows, argc, argv);
}
