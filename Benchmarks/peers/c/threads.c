// SPDX-License-Identifier: Apache-2.0

// POSIX threads, with mutexes and conditions: what coroutines are there to replace.

#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static void *give_back(void *number) { return number; }

static struct outcome joins(long count) {
  long sum = 0;
  for (long number = 0; number < count; number++) {
    pthread_t thread;
    void *value;
    pthread_create(&thread, NULL, give_back, (void *)number);
    pthread_join(thread, &value);
    sum += (long)value;
  }
  return result(sum);
}

static struct outcome launches(long count) {
  pthread_t threads[1000];
  for (long start = 0; start < count; start += 1000) {
    long number = count - start < 1000 ? count - start : 1000;
    for (long i = 0; i < number; i++) pthread_create(&threads[i], NULL, give_back, NULL);
    for (long i = 0; i < number; i++) pthread_join(threads[i], NULL);
  }
  return result(count);
}

static volatile bool over;

static void *yield_until_over(void *unused) {
  while (!over) sched_yield();
  return unused;
}

static struct outcome yields(long count) {
  pthread_t other;
  over = false;
  pthread_create(&other, NULL, yield_until_over, NULL);
  for (long i = 0; i < count / 2; i++) sched_yield();
  over = true;
  pthread_join(other, NULL);
  return result(count / 2);
}

// A queue with a limit; with a limit of 0, sending waits until the value has been taken.
struct queue {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full, taken;
  long values[128], count, first, limit, places, taken_count, sent_count;
  bool closed;
};

static void queue_init(struct queue *queue, long limit) {
  memset(queue, 0, sizeof *queue);
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->not_empty, NULL);
  pthread_cond_init(&queue->not_full, NULL);
  pthread_cond_init(&queue->taken, NULL);
  queue->limit = limit;
  queue->places = limit ? limit : 1;
}

static void queue_send(struct queue *queue, long value) {
  pthread_mutex_lock(&queue->lock);
  while (queue->count == queue->places) pthread_cond_wait(&queue->not_full, &queue->lock);
  queue->values[(queue->first + queue->count++) % queue->places] = value;
  long mine = ++queue->sent_count;
  pthread_cond_signal(&queue->not_empty);
  if (queue->limit == 0)
    while (queue->taken_count < mine) pthread_cond_wait(&queue->taken, &queue->lock);
  pthread_mutex_unlock(&queue->lock);
}

static bool queue_receive(struct queue *queue, long *value) {
  pthread_mutex_lock(&queue->lock);
  while (queue->count == 0 && !queue->closed) pthread_cond_wait(&queue->not_empty, &queue->lock);
  bool received = queue->count > 0;
  if (received) {
    *value = queue->values[queue->first];
    queue->first = (queue->first + 1) % queue->places;
    queue->count--;
    queue->taken_count++;
    pthread_cond_signal(&queue->not_full);
    if (queue->limit == 0) pthread_cond_broadcast(&queue->taken);
  }
  pthread_mutex_unlock(&queue->lock);
  return received;
}

static void queue_close(struct queue *queue) {
  pthread_mutex_lock(&queue->lock);
  queue->closed = true;
  pthread_cond_broadcast(&queue->not_empty);
  pthread_mutex_unlock(&queue->lock);
}

static struct queue queue;

struct share {
  long first, step, count;
};

static void *produce(void *argument) {
  struct share *share = argument;
  for (long number = share->first; number < share->count; number += share->step)
    queue_send(&queue, number);
  return NULL;
}

static void *consume(void *unused) {
  (void)unused;
  long sum = 0, number;
  while (queue_receive(&queue, &number)) sum += number;
  return (void *)sum;
}

static struct outcome send_between(long count, long limit, int producers, int consumers) {
  pthread_t sending[64], receiving[64];
  struct share shares[64];
  queue_init(&queue, limit);
  for (int i = 0; i < consumers; i++) pthread_create(&receiving[i], NULL, consume, NULL);
  for (int i = 0; i < producers; i++) {
    shares[i] = (struct share){i, producers, count};
    pthread_create(&sending[i], NULL, produce, &shares[i]);
  }
  for (int i = 0; i < producers; i++) pthread_join(sending[i], NULL);
  queue_close(&queue);
  long sum = 0;
  for (int i = 0; i < consumers; i++) {
    void *part;
    pthread_join(receiving[i], &part);
    sum += (long)part;
  }
  return result(sum);
}

static struct outcome handover(long count) { return send_between(count, 0, 1, 1); }
static struct outcome buffered(long count) { return send_between(count, 128, 1, 1); }
static struct outcome four_by_four(long count) { return send_between(count, 128, 4, 4); }
static struct outcome fan_in(long count) { return send_between(count, 0, 64, 1); }
static struct outcome fan_out(long count) { return send_between(count, 0, 1, 64); }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *contend(void *argument) {
  struct share *share = argument;
  for (long i = share->first; i < share->count; i += share->step) {
    pthread_mutex_lock(&lock);
    total++;
    sched_yield();
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static struct outcome contention(long count) {
  pthread_t threads[8];
  struct share shares[8];
  total = 0;
  for (int i = 0; i < 8; i++) {
    shares[i] = (struct share){i, 8, count};
    pthread_create(&threads[i], NULL, contend, &shares[i]);
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return result(total);
}

struct file {
  const char *kind;
  long number;
};

static void *read_file(void *argument) {
  struct file *file = argument;
  char path[4096];
  const char *folder = getenv("BENCHMARK_FILES");
  if (!folder) fail("BENCHMARK_FILES names no folder of files; run this row by compare");
  snprintf(path, sizeof path, "%s/%s-%ld", folder, file->kind,
           file->number % (strcmp(file->kind, "256k") ? 16 : 256));
  int descriptor = open(path, O_RDONLY);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) fail("no such file");
  unsigned char *bytes = malloc((size_t)status.st_size);
  for (off_t length = 0; length < status.st_size;) {
    ssize_t count = read(descriptor, bytes + length, (size_t)(status.st_size - length));
    if (count <= 0) fail("cannot read");
    length += count;
  }
  long sum = status.st_size + bytes[status.st_size - 1];
  free(bytes);
  close(descriptor);
  return (void *)sum;
}

static struct outcome read_files(const char *kind, long count) {
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  struct file *files = calloc((size_t)count, sizeof *files);
  for (long i = 0; i < count; i++) {
    files[i] = (struct file){kind, i};
    if (pthread_create(&threads[i], NULL, read_file, &files[i]) != 0) fail("no more threads");
  }
  long sum = 0;
  for (long i = 0; i < count; i++) {
    void *part;
    pthread_join(threads[i], &part);
    sum += (long)part;
  }
  free(threads);
  free(files);
  return result(sum);
}

static struct outcome read_small(long count) { return read_files("256k", count); }
static struct outcome read_large(long count) { return read_files("20m", count); }

static const struct row rows[] = {
    {"yield", yields, 0, false},
    {"launch-join", joins, 0, false},
    {"launch", launches, 0, false},
    {"handover", handover, 0, false},
    {"handover-2", handover, 0, false},
    {"buffered128", buffered, 0, false},
    {"buffered128-4x4", four_by_four, 0, false},
    {"fan-in", fan_in, 0, false},
    {"fan-out", fan_out, 0, false},
    {"mutex", contention, 0, false},
    {"read-256k", read_small, 256, true},
    {"read-20m", read_large, 16, true},
};

int main(int argc, char **argv) {
  return run("threads", rows, sizeof rows / sizeof *rows, argc, argv);
}
