// SPDX-License-Identifier: Apache-2.0
//
// Buffers of a call that is done in several steps.
#ifndef CBC_VECTOR_H
#define CBC_VECTOR_H

#include "gate.h"

#define CBC_VECTOR_ROOM 8

/// A copy of the caller's list of buffers, from which what is done is taken off.
typedef struct cbc_vector {
  struct iovec *first;
  size_t count;
  struct iovec *memory;  ///< To be freed; NULL if there is room in here.
  struct iovec room[CBC_VECTOR_ROOM];
} cbc_vector_t;

/// 0, or -1 if there is no memory.
int cbc_vector_make(cbc_vector_t *vector, const struct iovec *buffers, size_t count);
void cbc_vector_free(cbc_vector_t *vector);

/// Takes so many bytes off the front. 0 if nothing is left.
int cbc_vector_advance(cbc_vector_t *vector, size_t bytes);

/// Bytes in all of them.
size_t cbc_vector_size(const struct iovec *buffers, size_t count);

/// sendmsg and recvmsg that wait: what all calls on sockets come to. They end the frame.
ssize_t cbc_receive(cbc_frame_t *frame, int descriptor, struct msghdr *message, int flags);
ssize_t cbc_send(cbc_frame_t *frame, int descriptor, const struct msghdr *message, int flags);

#endif
