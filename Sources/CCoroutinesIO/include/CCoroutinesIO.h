// SPDX-License-Identifier: Apache-2.0
//
// Calls of the system, with results that Swift can use: what is not negative, or a negative error number.
// No descriptor blocks, and none is handed on to the programs that the process starts.
#ifndef CCOROUTINES_IO_H
#define CCOROUTINES_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#if !defined(__clang__)
#define _Nonnull
#define _Nullable
#endif

/// An address as the system has it.
typedef struct cio_address {
  struct sockaddr_storage storage;
  socklen_t length;
} cio_address_t;

typedef enum cio_family {
  cio_family_other = 0,
  cio_family_unix = 1,
  cio_family_ipv4 = 4,
  cio_family_ipv6 = 6,
} cio_family_t;

extern const int cio_bad_descriptor;
extern const int cio_would_block;
extern const int cio_interrupted;
extern const int cio_in_progress;
extern const int cio_timed_out;
extern const int cio_too_long;
extern const int cio_invalid;
extern const int cio_broken_pipe;
extern const int cio_no_such_process;
extern const int cio_connection_aborted;

/// The process or the system has no descriptor or no memory left for the moment.
int cio_is_shortage(int code);

/// The system's words for an error number; valid for ever.
const char *_Nonnull cio_error_text(int code);

long cio_close(int descriptor);
/// It is open, for whatever.
int cio_is_open(int descriptor);

// MARK: - Bytes

long cio_receive(int socket, void *_Nullable bytes, size_t count);
/// Nobody there to read is an error and no signal.
long cio_send(int socket, const void *_Nullable bytes, size_t count);
long cio_read(int descriptor, void *_Nullable bytes, size_t count);
/// Nobody there to read is an error and no signal.
long cio_write(int descriptor, const void *_Nullable bytes, size_t count);

/// Two ends of a pipe: to read, to write.
long cio_pipe(int ends[_Nonnull 2]);
/// Two connected sockets.
long cio_socket_pair(int ends[_Nonnull 2]);
/// Has a descriptor not block from now on.
long cio_set_nonblocking(int descriptor);
/// Has a descriptor block from now on.
long cio_set_blocking(int descriptor);
/// 1 for a socket, 0 for anything else.
long cio_is_socket(int descriptor);
/// 1 if a read of less than was asked for has taken all: pipes, and sockets of streams. 0 for others, such as
/// terminals, which give one line at a time.
int cio_short_read_is_all(int descriptor);

// MARK: - Sockets

/// A socket for addresses of this family: of a stream, or of datagrams.
long cio_socket(cio_family_t family, int is_datagram);
/// 0 when it is connected, -EINPROGRESS when it is under way.
long cio_connect(int socket, const cio_address_t *_Nonnull address);
/// The outcome of a connection that was under way: 0 or an error.
long cio_connect_result(int socket);
long cio_bind(int socket, const cio_address_t *_Nonnull address, int reuses_port);
/// As `cio_bind`; but two sockets that receive datagrams have the same port only if both ask for it.
long cio_bind_datagrams(int socket, const cio_address_t *_Nonnull address, int reuses_port);
long cio_listen(int socket, int backlog);
/// The next connection; `peer` may be null.
long cio_accept(int listener, cio_address_t *_Nullable peer);
long cio_shut_down_writing(int socket);
long cio_set_no_delay(int socket, int is_on);
/// Closing resets the connection: the other end gets an error instead of an end.
long cio_set_reset_on_close(int socket);
long cio_set_broadcast(int socket);
long cio_local_address(int socket, cio_address_t *_Nonnull address);
long cio_peer_address(int socket, cio_address_t *_Nonnull address);

long cio_send_to(
    int socket, const void *_Nullable bytes, size_t count, const cio_address_t *_Nullable address);
/// `*is_cut` is set if the datagram was longer than the room for it.
long cio_receive_from(
    int socket, void *_Nullable bytes, size_t count, cio_address_t *_Nonnull sender,
    int *_Nonnull is_cut);

// MARK: - Addresses

void cio_make_ipv4(cio_address_t *_Nonnull address, const uint8_t bytes[_Nonnull 4], uint16_t port);
void cio_make_ipv6(
    cio_address_t *_Nonnull address, const uint8_t bytes[_Nonnull 16], uint16_t port,
    uint32_t scope);
/// -ENAMETOOLONG for a path that does not fit.
long cio_make_unix(cio_address_t *_Nonnull address, const char *_Nonnull path);
cio_family_t cio_family_of(const cio_address_t *_Nonnull address);
/// The bytes of an address of the internet, 4 or 16; the port.
void cio_bytes(const cio_address_t *_Nonnull address, uint8_t bytes[_Nonnull 16]);
uint16_t cio_port(const cio_address_t *_Nonnull address);
uint32_t cio_scope(const cio_address_t *_Nonnull address);
/// A path, with its end; empty for an address without one.
void cio_path(const cio_address_t *_Nonnull address, char path[_Nonnull 256]);
/// 1 if the text is an address of the internet.
int cio_parse(const char *_Nonnull text, uint16_t port, cio_address_t *_Nonnull address);

// MARK: - Names

/// Asks the system for the addresses of a host, which may take long.
///
/// Returns how many; -1 with a code of the resolver, or -2 with an error number.
int cio_resolve(
    const char *_Nonnull host, uint16_t port, cio_address_t *_Nonnull addresses, int capacity,
    int *_Nonnull code);
/// The resolver's code for a name that nobody knows.
extern const int cio_unknown_host;
/// The resolver's words for its code; valid for ever.
const char *_Nonnull cio_resolution_text(int code);

// MARK: - Files

enum {
  cio_file_read = 1,
  cio_file_write = 2,
  cio_file_create = 4,
  cio_file_exclusive = 8,
  cio_file_truncate = 16,
  cio_file_append = 32,
};

long cio_open(const char *_Nonnull path, int modes, unsigned permissions);
long cio_read_at(int file, void *_Nullable bytes, size_t count, int64_t offset);
long cio_write_at(int file, const void *_Nullable bytes, size_t count, int64_t offset);
long cio_append(int file, const void *_Nullable bytes, size_t count);
long cio_file_size(int file);
long cio_truncate(int file, int64_t size);
long cio_sync(int file, int data_only);
/// Another descriptor for a standard stream, which does not block if that can be without changing it for others
/// who share it.
long cio_reopen(int descriptor, int is_for_writing);

// MARK: - Signals

extern const int cio_signal_hang_up;
extern const int cio_signal_interrupt;
extern const int cio_signal_quit;
extern const int cio_signal_kill;
extern const int cio_signal_user1;
extern const int cio_signal_user2;
extern const int cio_signal_pipe;
extern const int cio_signal_alarm;
extern const int cio_signal_terminate;
extern const int cio_signal_child;
extern const int cio_signal_go_on;
extern const int cio_signal_stop;
extern const int cio_signal_window_change;

/// What becomes readable when a signal has come; made at the first call. One caller at a time.
long cio_signals_start(void);
/// Catches a signal. One caller at a time; not twice without `cio_signal_unwatch`.
long cio_signal_watch(int number);
/// Puts back what there was before, unless somebody else has changed it.
void cio_signal_unwatch(int number);
/// The signals that have come since the last call: bit 0 is signal 1. One caller at a time.
uint64_t cio_signals_take(void);

// MARK: - Processes

/// What a standard stream of a child is, instead of a descriptor.
enum {
  cio_stream_inherited = -1,
  cio_stream_nothing = -2,
  /// For standard errors: the same as standard output.
  cio_stream_output = -3,
};

typedef struct cio_spawn {
  const char *_Nonnull program;
  char *_Nullable const *_Nonnull arguments;
  /// Null for this process's own.
  char *_Nullable const *_Nullable environment;
  /// Null for this process's own.
  const char *_Nullable directory;
  int streams[3];
  int leads_group;
} cio_spawn_t;

/// Starts a program; returns its number.
long cio_spawn(const cio_spawn_t *_Nonnull spawn);
/// A descriptor that becomes readable when the process has ended.
long cio_open_process(int identifier);

enum {
  /// Do not wait for it.
  cio_end_at_once = 1,
  /// Leave it to be looked for again.
  cio_end_not_collected = 2,
};

/// 1 if a child has ended, and how; 0 if it has not.
long cio_look_for_end(int identifier, int flags, int *_Nonnull status, int *_Nonnull is_signal);
long cio_kill(int identifier, int number);
/// Somebody in the group runs; those who have ended and have not been collected do not count. Reads all of /proc.
int cio_group_has_running_member(int group);

#endif
