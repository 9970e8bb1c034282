// SPDX-License-Identifier: Apache-2.0

// The clients of the network's rows: so many connections, each with one message on its way.
// See usage() below; one line of JSON is printed.

#define _GNU_SOURCE
#include "connections.h"
#include "latency.h"

#include <dirent.h>
#include <getopt.h>

static void usage(void) {
  fputs("usage: load echo | http | idle --port PORT [option]...\n"
        "  echo  64 bytes to the server and back, each one compared\n"
        "  http  a GET and its response, whose status and length are checked\n"
        "  idle  one round trip of each connection, a line of JSON, and waiting until stdin is closed\n"
        "  --connections N   how many (1)\n"
        "  --round-trips N   how many are measured, of all connections together (10000)\n"
        "  --warm-up N       how many go before (a tenth)\n"
        "  --seconds S       no phase lasts longer (10)\n"
        "  --server PID      whose processor time is told, too\n"
        "  --spin            look for events instead of sleeping until there are some\n",
        stderr);
  exit(64);
}

struct options {
  const struct protocol *protocol;
  bool idle, spin;
  int port;
  long connections, round_trips, warm_up;
  double seconds;
  pid_t server;
};

static long number(const char *text, long least, long most) {
  char *end;
  long value = strtol(text, &end, 10);
  if (!*text || *end || value < least || value > most) usage();
  return value;
}

static struct options read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"port", required_argument, NULL, 'p'},        {"connections", required_argument, NULL, 'c'},
      {"round-trips", required_argument, NULL, 'r'}, {"warm-up", required_argument, NULL, 'w'},
      {"seconds", required_argument, NULL, 's'},     {"server", required_argument, NULL, 'v'},
      {"spin", no_argument, NULL, 'b'},              {0},
  };
  struct options options = {.connections = 1, .round_trips = 10000, .warm_up = -1, .seconds = 10};
  if (argc < 2) usage();
  options.idle = !strcmp(argv[1], "idle");
  if (!strcmp(argv[1], "echo") || options.idle) options.protocol = &echo_protocol;
  if (!strcmp(argv[1], "http")) options.protocol = &http_protocol;
  for (int option; (option = getopt_long(argc - 1, argv + 1, "", names, NULL)) != -1;) {
    if (option == 'p') options.port = (int)number(optarg, 1, 65535);
    else if (option == 'c') options.connections = number(optarg, 1, 1000000);
    else if (option == 'r') options.round_trips = number(optarg, 1, 1000000000);
    else if (option == 'w') options.warm_up = number(optarg, 0, 1000000000);
    else if (option == 's') options.seconds = (double)number(optarg, 1, 600);
    else if (option == 'v') options.server = (pid_t)number(optarg, 1, INT32_MAX);
    else if (option == 'b') options.spin = true;
    else usage();
  }
  if (!options.protocol || !options.port || optind != argc - 1) usage();
  if (options.warm_up < 0) options.warm_up = options.round_trips / 10;
  return options;
}

// What is counted from when a phase begins.
struct phase {
  long done, wanted;
  int64_t began, deadline;
};

static int poller;
static bool spin;

static struct phase start_phase(long wanted, double seconds) {
  int64_t now = nanoseconds(CLOCK_MONOTONIC);
  return (struct phase){.wanted = wanted, .began = now, .deadline = now + (int64_t)(seconds * 1e9)};
}

// Round trips until there were enough or the time is over. The end of one begins the next one of its
// connection, except where `once` is said.
static void run_phase(struct phase *phase, bool once) {
  static struct epoll_event events[512];
  int64_t now = phase->began;
  while (phase->done < phase->wanted && now < phase->deadline) {
    int count = epoll_wait(poller, events, 512, spin ? 0 : 1000);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    if (count <= 0) now = nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < count; i++) {
      struct connection *connection = events[i].data.ptr;
      if (connection->broken || !receive(connection)) continue;
      now = nanoseconds(CLOCK_MONOTONIC);
      phase->done++;
      record_latency(now - connection->sent_at);
      if (!once) send_message(connection, now);
    }
    if (broken_connections == connection_count) break;
  }
}

static void send_all(void) {
  for (long i = 0; i < connection_count; i++) {
    if (!connections[i].broken) send_message(&connections[i], nanoseconds(CLOCK_MONOTONIC));
  }
}

static int64_t processor_time_of(pid_t process) {
  clockid_t clock;
  if (process == 0 || clock_getcpuclockid(process, &clock)) return 0;
  return nanoseconds(clock);
}

// How long the threads of a process had to wait for a core, in nanoseconds.
static int64_t waited_by(pid_t process) {
  char path[300];
  int64_t all = 0;
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *tasks = opendir(path);
  if (!tasks) return 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", process, task->d_name);
    FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (!file) continue;
    long long ran, waited;
    if (fscanf(file, "%lld %lld", &ran, &waited) == 2) all += waited;
    fclose(file);
  }
  closedir(tasks);
  return all;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv);
  spin = options.spin;
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) fail("epoll_create1");
  protocol = options.protocol;
  open_connections(options.connections, options.port, poller);

  // Each connection once: the server has accepted them all then.
  struct phase first = start_phase(options.connections, options.seconds);
  send_all();
  run_phase(&first, true);
  long unanswered = outstanding;
  if (options.idle) {
    printf("{\"connections\": %ld, \"errors\": %ld}\n", options.connections, errors + unanswered);
    fflush(stdout);
    while (read(STDIN_FILENO, &(char){0}, 1) > 0) continue;
    return errors + unanswered ? 1 : 0;
  }

  struct phase warm_up = start_phase(options.warm_up, options.seconds);
  send_all();
  run_phase(&warm_up, false);

  forget_latencies();
  int64_t server = processor_time_of(options.server);
  int64_t load = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  int64_t server_waited = waited_by(options.server), load_waited = waited_by(getpid());
  struct phase measured = start_phase(options.round_trips, options.seconds);
  run_phase(&measured, false);
  double wall = (double)(nanoseconds(CLOCK_MONOTONIC) - measured.began);
  server = processor_time_of(options.server) - server;
  load = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - load;
  server_waited = waited_by(options.server) - server_waited;
  load_waited = waited_by(getpid()) - load_waited;

  double done = measured.done ? (double)measured.done : 1;
  double median = latency_at(0.5), late = latency_at(0.99), greatest = greatest_latency();
  // What is still on its way has to come, too: a server that forgets a connection is found here.
  struct phase rest = start_phase(outstanding, options.seconds);
  run_phase(&rest, true);
  unanswered += outstanding;
  printf("{\"mode\": \"%s\", \"connections\": %ld, \"round_trips\": %ld, \"seconds\": %.6g, "
         "\"per_second\": %.6g, \"p50_us\": %.4g, \"p99_us\": %.4g, \"max_us\": %.4g, "
         "\"load_busy\": %.3g, \"load_waited\": %.3g, ",
         argv[1], options.connections, measured.done, wall / 1e9, (double)measured.done / wall * 1e9,
         median, late, greatest, (double)load / wall,
         (double)load_waited / wall);
  if (options.server)
    printf("\"cpu_ns\": %.6g, \"server_busy\": %.3g, \"server_waited\": %.3g, ",
           (double)server / done, (double)server / wall, (double)server_waited / wall);
  printf("\"errors\": %ld}\n", errors + unanswered);
  close_connections();
  return errors + unanswered || measured.done == 0 ? 1 : 0;
}
