// SPDX-License-Identifier: Apache-2.0
//
// The switch is inlined in many places, so it is known by its instructions, as `cck_context_switch_arriving` has them.
// Code that has the same elsewhere would be taken for a switch, and `load` might be anything: no compiler jumps
// through a register that it has just loaded a stack and a frame pointer through.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "midway.h"

#include <stdint.h>

#if defined(__linux__) && defined(CCK_CONTEXT_INLINE)

#include <ucontext.h>

// What follows the load of the first register.
#if defined(__x86_64__)
static const uint8_t rest[] = {
    0x48, 0x8b, 0x6e, 0x08,  // movq 8(%rsi), %rbp
#if defined(__clang__) && __clang_major__ < 19
    0x48, 0x8b, 0x5e, 0x18,  // movq 24(%rsi), %rbx
#endif
    0x3e, 0xff, 0x66, 0x10,  // notrack jmpq *16(%rsi)
};
#else
static const uint8_t rest[] = {
    0x4b, 0x4d, 0x41, 0xa9,  // ldp x11, x19, [x10, #16]
    0x9f, 0x01, 0x00, 0x91,  // mov sp, x12
    0x60, 0x01, 0x1f, 0xd6,  // br x11
};
#endif
enum { step = 4 };  // each is so long

const cck_context_t *cck_midway_to(const void *machine_context) {
  const ucontext_t *context = machine_context;
#if defined(__x86_64__)
  const uint8_t *pc = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
  const cck_context_t *load = (const cck_context_t *)context->uc_mcontext.gregs[REG_RSI];
#else
  const uint8_t *pc = (const uint8_t *)context->uc_mcontext.pc;
  const cck_context_t *load = (const cck_context_t *)context->uc_mcontext.regs[10];
#endif
  for (size_t done = 0; done < sizeof(rest); done += step) {
    // SAFETY: the code that runs can be read, and these are whole instructions of it if the ones before agree.
    size_t agreed = 0;
    while (agreed < sizeof(rest) - done && pc[agreed] == rest[done + agreed]) agreed++;
    if (agreed == sizeof(rest) - done) return load;
  }
  return NULL;
}

#else

const cck_context_t *cck_midway_to(const void *machine_context) {
  (void)machine_context;
  return NULL;
}

#endif
