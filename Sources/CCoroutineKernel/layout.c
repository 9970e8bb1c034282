// SPDX-License-Identifier: Apache-2.0
#include "cck_layout.h"

#include <stddef.h>

#include "slab.h"

// Facts about words of 64 bits, and about switches that leave all registers in the context. Without those there
// is the version only.
const cck_debug_fact_t cck_debug_layout[] = {
    {"version", CCK_DEBUG_VERSION},
#if defined(CCK_CONTEXT_INLINE)
    {"slabs", (uintptr_t)cck_slabs},
    {"slab_count", (uintptr_t)&cck_slab_count},
    {"slab.size", sizeof(cck_slab_t)},
    {"slab.base", offsetof(cck_slab_t, base)},
    {"slab.stride", offsetof(cck_slab_t, stride)},
    {"slab.used", offsetof(cck_slab_t, used)},
    {"record.size", CCK_RECORD_SIZE},
    {"record.colours", CCK_COLOURS},
    {"record.colour_step", CCK_COLOUR_STEP},
    {"stack.sp", offsetof(cck_stack_t, context.sp)},
    {"stack.fp", offsetof(cck_stack_t, context.fp)},
    {"stack.pc", offsetof(cck_stack_t, context.pc)},
    {"stack.low", offsetof(cck_stack_t, low)},
    {"stack.home", offsetof(cck_stack_t, home)},
    {"stack.fiber", offsetof(cck_stack_t, fiber)},
    {"fiber.link_next", CCK_FIBER_LINK_NEXT},
    {"fiber.link_perform", CCK_FIBER_LINK_PERFORM},
    {"fiber.stack", CCK_FIBER_STACK},
    {"fiber.operation", CCK_FIBER_OPERATION},
    {"fiber.older", CCK_FIBER_OLDER},
    {"fiber.identifier", CCK_FIBER_IDENTIFIER},
    {"fiber.phase", CCK_FIBER_PHASE},
    {"fiber.extras", CCK_FIBER_EXTRAS},
    {"fiber.site_start", CCK_FIBER_SITE_START},
    {"fiber.site_length", CCK_FIBER_SITE_LENGTH},
    {"fiber.site_line", CCK_FIBER_SITE_LINE},
    {"extras.label", CCK_EXTRAS_LABEL},
    {"home.run_first", CCK_HOME_RUN_FIRST},
    {"home.unstarted", CCK_HOME_UNSTARTED},
    {"home.inbox", CCK_HOME_INBOX},
    {"unstarted.newest", CCK_UNSTARTED_NEWEST},
    {"unstarted.arrivals", CCK_UNSTARTED_ARRIVALS},
#endif
    {NULL, 0},
};
