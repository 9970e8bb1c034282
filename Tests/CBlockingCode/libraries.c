// SPDX-License-Identifier: Apache-2.0
//
// Clients of libraries as they come with the system, found at run time: not every machine has them.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "CBlockingCode.h"

static void *function(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW);
  return handle == NULL ? NULL : dlsym(handle, name);
}

#define FIND(type, name, library) type name = (type)function(library, #name)

int cbl_has_library(const char *library) { return dlopen(library, RTLD_NOW) != NULL; }

int cbl_hiredis_ping(int port, int times) {
  typedef void *(*connect_t)(const char *, int);
  typedef void *(*command_t)(void *, const char *, ...);
  typedef void (*free_t)(void *);
  FIND(connect_t, redisConnect, "libhiredis.so");
  FIND(command_t, redisCommand, "libhiredis.so");
  FIND(free_t, freeReplyObject, "libhiredis.so");
  FIND(free_t, redisFree, "libhiredis.so");
  void *connection = redisConnect("127.0.0.1", port);
  if (connection == NULL) return -1;
  int answers = 0;
  for (int index = 0; index < times; index++) {
    void *reply = redisCommand(connection, "PING");
    if (reply == NULL) break;
    answers++;
    freeReplyObject(reply);
  }
  redisFree(connection);
  return answers;
}

int cbl_libpq_queries(int port, int times) {
  typedef void *(*connect_t)(const char *);
  typedef int (*status_t)(void *);
  typedef void *(*execute_t)(void *, const char *);
  typedef void (*free_t)(void *);
  FIND(connect_t, PQconnectdb, "libpq.so.5");
  FIND(status_t, PQstatus, "libpq.so.5");
  FIND(execute_t, PQexec, "libpq.so.5");
  FIND(status_t, PQresultStatus, "libpq.so.5");
  FIND(free_t, PQclear, "libpq.so.5");
  FIND(free_t, PQfinish, "libpq.so.5");
  char where[128];
  snprintf(
      where, sizeof(where),
      "host=127.0.0.1 port=%d user=u dbname=d sslmode=disable gssencmode=disable", port);
  void *connection = PQconnectdb(where);
  int answers = 0;
  for (int index = 0; PQstatus(connection) == 0 && index < times; index++) {
    void *result = PQexec(connection, "LISTEN nothing");
    // PGRES_COMMAND_OK
    if (PQresultStatus(result) == 1) answers++;
    PQclear(result);
  }
  PQfinish(connection);
  return answers;
}

static size_t count_bytes(void *bytes, size_t size, size_t count, void *total) {
  (void)bytes;
  *(size_t *)total += size * count;
  return size * count;
}

int cbl_libcurl_get(int port) {
  typedef void *(*make_t)(void);
  typedef int (*set_t)(void *, int, ...);
  typedef int (*perform_t)(void *);
  typedef void (*free_t)(void *);
  FIND(make_t, curl_easy_init, "libcurl.so.4");
  FIND(set_t, curl_easy_setopt, "libcurl.so.4");
  FIND(perform_t, curl_easy_perform, "libcurl.so.4");
  FIND(free_t, curl_easy_cleanup, "libcurl.so.4");
  void *request = curl_easy_init();
  char url[64];
  snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
  size_t total = 0;
  curl_easy_setopt(request, 10002 /* CURLOPT_URL */, url);
  curl_easy_setopt(request, 20011 /* CURLOPT_WRITEFUNCTION */, count_bytes);
  curl_easy_setopt(request, 10001 /* CURLOPT_WRITEDATA */, &total);
  curl_easy_setopt(request, 10177 /* CURLOPT_NOPROXY */, "*");
  int error = curl_easy_perform(request);
  curl_easy_cleanup(request);
  return error == 0 ? (int)total : -error;
}
