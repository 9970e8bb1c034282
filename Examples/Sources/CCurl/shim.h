// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>

// curl_easy_setopt takes variable arguments, which Swift does not import.
static inline CURLcode example_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode example_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode example_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode example_set_writer(
    CURL *handle, size_t (*writer)(char *bytes, size_t size, size_t count, void *context)) {
  return curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
}

static inline CURLcode example_set_progress(
    CURL *handle,
    int (*progress)(void *context, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t)) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
}

static inline CURLcode example_get_status(CURL *handle, long *status) {
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}
