// SPDX-License-Identifier: Apache-2.0
#include "cck_dispatch.h"

#include <string.h>

// Declared here because the toolchain's header is not on a C target's search path on Linux. The
// signatures are libdispatch's public ones.
extern void *dispatch_get_current_queue(void);
extern const char *dispatch_queue_get_label(void *queue);
extern void dispatch_async_f(void *queue, void *context, cck_dispatch_function_t work);
extern void *dispatch_queue_get_specific(void *queue, const void *key);
extern void dispatch_queue_set_specific(
    void *queue, const void *key, void *context, cck_dispatch_function_t destructor);
extern void dispatch_retain(void *object);
extern void dispatch_release(void *object);
extern void dispatch_resume(void *object);
extern void dispatch_set_context(void *object, void *context);
extern void *dispatch_source_create(
    const void *type, uintptr_t handle, uintptr_t mask, void *queue);
extern void dispatch_source_set_event_handler_f(void *source, cck_dispatch_function_t handler);
extern void dispatch_source_set_timer(
    void *source, uint64_t start, uint64_t interval, uint64_t leeway);
extern void dispatch_source_cancel(void *source);
extern uint64_t dispatch_time(uint64_t when, int64_t delta);
extern const char _dispatch_source_type_timer[];

static const char attachment_key;

void *cck_dispatch_current_queue(void) {
  void *queue = dispatch_get_current_queue();
  if (queue == NULL) return NULL;
  const char *label = dispatch_queue_get_label(queue);
  static const char root[] = "com.apple.root.";
  return label != NULL && strncmp(label, root, sizeof(root) - 1) == 0 ? NULL : queue;
}

void *cck_dispatch_innermost_queue(void) { return dispatch_get_current_queue(); }

void cck_dispatch_async(void *queue, void *context, cck_dispatch_function_t work) {
  dispatch_async_f(queue, context, work);
}

void *cck_dispatch_attachment(void *queue) {
  return dispatch_queue_get_specific(queue, &attachment_key);
}

void cck_dispatch_set_attachment(void *queue, void *object, cck_dispatch_function_t destroy) {
  dispatch_queue_set_specific(queue, &attachment_key, object, destroy);
}

#if defined(__linux__)

// What libdispatch itself holds its queues with. `dispatch_retain` stops the program in a block of a queue
// that nobody refers to any more, as in `DispatchQueue(label: "q").async { launch { } }`: it would revive the
// queue. These count the references that pending blocks have, of which the running block is one.
// Weak, because no header promises them.
extern void *_os_object_retain_internal(void *object) __attribute__((weak));
extern void _os_object_release_internal(void *object) __attribute__((weak));

void cck_dispatch_retain(void *object) {
  if (_os_object_retain_internal != NULL && _os_object_release_internal != NULL) {
    _os_object_retain_internal(object);
  } else {
    dispatch_retain(object);
  }
}

void cck_dispatch_release(void *object) {
  if (_os_object_retain_internal != NULL && _os_object_release_internal != NULL) {
    _os_object_release_internal(object);
  } else {
    dispatch_release(object);
  }
}

#else

void cck_dispatch_retain(void *object) { dispatch_retain(object); }

void cck_dispatch_release(void *object) { dispatch_release(object); }

#endif

void *cck_dispatch_timer_make(void *queue, void *context, cck_dispatch_function_t fire) {
  void *source = dispatch_source_create(_dispatch_source_type_timer, 0, 0, queue);
  dispatch_set_context(source, context);
  dispatch_source_set_event_handler_f(source, fire);
  dispatch_resume(source);
  return source;
}

void cck_dispatch_timer_arm(void *timer, int64_t delay) {
  dispatch_source_set_timer(timer, dispatch_time(0, delay < 0 ? 0 : delay), UINT64_MAX, 0);
}

void cck_dispatch_timer_free(void *timer) {
  dispatch_source_cancel(timer);
  dispatch_release(timer);
}
