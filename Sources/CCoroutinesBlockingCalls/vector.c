// SPDX-License-Identifier: Apache-2.0
#include "vector.h"

#include <string.h>

int cbc_vector_make(cbc_vector_t *vector, const struct iovec *buffers, size_t count) {
  vector->memory = NULL;
  vector->first = vector->room;
  vector->count = count;
  if (count > CBC_VECTOR_ROOM) {
    vector->memory = malloc(count * sizeof(struct iovec));
    if (vector->memory == NULL) return -1;
    vector->first = vector->memory;
  }
  if (count > 0) memcpy(vector->first, buffers, count * sizeof(struct iovec));
  return 0;
}

void cbc_vector_free(cbc_vector_t *vector) { free(vector->memory); }

int cbc_vector_advance(cbc_vector_t *vector, size_t bytes) {
  while (vector->count > 0) {
    struct iovec *buffer = vector->first;
    if (bytes < buffer->iov_len) {
      buffer->iov_base = (char *)buffer->iov_base + bytes;
      buffer->iov_len -= bytes;
      return 1;
    }
    bytes -= buffer->iov_len;
    vector->first++;
    vector->count--;
  }
  return 0;
}

size_t cbc_vector_size(const struct iovec *buffers, size_t count) {
  size_t size = 0;
  for (size_t index = 0; index < count; index++) size += buffers[index].iov_len;
  return size;
}
