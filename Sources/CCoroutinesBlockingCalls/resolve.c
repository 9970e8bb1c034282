// SPDX-License-Identifier: Apache-2.0
//
// getaddrinfo: libc's own, on another thread, whose waiting inside libc nobody can see.
#include "gate.h"

#include <string.h>

// A copy of everything, so that a cancelled caller need not wait for servers that do not answer.
typedef struct query {
  char *node, *service;
  struct addrinfo hints;
  int has_hints;
  struct addrinfo *answer;
  int result, error;
} query_t;

static void ask(void *context) {
  query_t *query = context;
  query->result = REAL(getaddrinfo)(
      query->node, query->service, query->has_hints ? &query->hints : NULL, &query->answer);
  query->error = errno;
}

static void drop(void *context) {
  query_t *query = context;
  if (query->answer != NULL) freeaddrinfo(query->answer);
  free(query->node);
  free(query->service);
  free(query);
}

static query_t *make_query(
    const char *node, const char *service, const struct addrinfo *hints) {
  query_t *query = calloc(1, sizeof(query_t));
  if (query == NULL) return NULL;
  if (node != NULL) query->node = strdup(node);
  if (service != NULL) query->service = strdup(service);
  if (hints != NULL) {
    query->has_hints = 1;
    query->hints = *hints;
  }
  if ((node == NULL || query->node != NULL) && (service == NULL || query->service != NULL)) {
    return query;
  }
  drop(query);
  return NULL;
}

static int getaddrinfo_parking(
    cbc_frame_t *frame, const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **answer) {
  query_t *query = make_query(node, service, hints);
  if (query == NULL) {
    cbc_end(frame, 0);
    return EAI_MEMORY;
  }
  if (cbc_offload_or_leave(frame, ask, query, drop) != 0) {
    cbc_fail(frame, ECANCELED);
    return EAI_SYSTEM;
  }
  int result = query->result;
  int error = query->error;
  if (result == 0) *answer = query->answer;
  query->answer = NULL;
  drop(query);
  if (result == EAI_SYSTEM) {
    cbc_fail(frame, error);
  } else {
    cbc_end(frame, 0);
  }
  return result;
}

int CBC_NAME(getaddrinfo)(
    const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **answer) {
  CBC_ROUTE(
      getaddrinfo, getaddrinfo_parking(&frame, node, service, hints, answer), node, service, hints,
      answer);
}
CBC_INTERPOSE(getaddrinfo)
