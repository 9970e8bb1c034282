// SPDX-License-Identifier: Apache-2.0
//
// A suspended flow of control, and the switch from one to another.
//
// On x86_64 and arm64 the switch is inline assembly that stores three or four words and declares every other
// register clobbered: the compiler spills just what is live, and because the jump is repeated at each
// place that switches, the branch predictor learns each place on its own. The other architectures
// call `switch_<arch>.S`, which pushes the callee-saved registers, and anything else falls back
// on <ucontext.h>.
//
// What is *not* saved: the floating-point control words (x87 CW, MXCSR, FPCR). A coroutine that
// changes the rounding mode must change it back before it parks.
#ifndef CCK_CONTEXT_H
#define CCK_CONTEXT_H

#include "cck_base.h"

// The inline switches store 64-bit words, so the ABIs with 32-bit pointers (x32, arm64_32) are out.
#if !defined(CCK_FORCE_UCONTEXT) && defined(__x86_64__) && !defined(__ILP32__)
#define CCK_CONTEXT_INLINE 1
#elif !defined(CCK_FORCE_UCONTEXT) && defined(__aarch64__) && !defined(__ILP32__)
#define CCK_CONTEXT_INLINE 1
#elif !defined(CCK_FORCE_UCONTEXT) \
    && (defined(__i386__) || defined(__arm__) || (defined(__riscv) && __riscv_xlen == 64))
#define CCK_CONTEXT_OUT_OF_LINE 1
#else
#define CCK_CONTEXT_UCONTEXT 1
#endif

/// The body of a new context. It must never return: the last thing it does is a switch.
typedef void (*cck_entry_t)(void *_Nullable argument);

/// Where a suspended flow of control goes on. Memory allocated by hand holds it, never a Swift
/// property: a switch happens while the address is in use, and Swift would call that overlapping.
typedef struct cck_context {
  void *_Nullable sp;    ///< Stack pointer.
  void *_Nullable fp;    ///< Frame pointer (rbp, x29). A new context of x86_64 keeps its entry function here.
  void *_Nullable pc;    ///< Address to go on at.
  void *_Nullable base;  ///< Base pointer of the compiler's (x19; rbx for old compilers). A new context of arm64 keeps its entry function here.
  // The rest is used by instrumented builds only (see cck_sanitizer.h).
  void *_Nullable tsan_fiber;       ///< ThreadSanitizer's view of this flow of control.
  void *_Nullable asan_fake_stack;  ///< AddressSanitizer's side stack while suspended.
  const void *_Nullable stack_low;  ///< Lowest address of the stack it runs on.
  size_t stack_size;                ///< Bytes from there to the top.
  void *_Nullable entry_function;   ///< The entry function, while a wrapper of ours stands in for it.
} cck_context_t;

/// What a switch back brings.
typedef struct cck_arrival {
  void *_Nullable argument;     ///< The argument of the switch that came here.
  cck_context_t *_Nonnull context;  ///< The context that was saved here: its address comes in a register, so
                                 ///< what is found through it need not wait for the stack pointer.
} cck_arrival_t;

/// True when a sanitizer's runtime is in the process; set once, before main.
extern int cck_instrumented;

/// The same, for callers that cannot read a global.
CCK_INLINE int cck_is_instrumented(void) { return cck_instrumented; }

/// The switch of instrumented builds: out of line, not instrumented itself, tells the sanitizers.
void *_Nullable cck_context_switch_instrumented(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument);

/// Makes `context` start `entry(argument)` at `stack_top`, where `argument` comes from the switch
/// that first enters it. `stack_low` is the lowest usable address.
void cck_context_make(
    cck_context_t *_Nonnull context, void *_Nonnull stack_low, void *_Nonnull stack_top,
    cck_entry_t _Nonnull entry);

/// Tells the sanitizers that `context`, which has been left for good, is gone.
void cck_context_retire(cck_context_t *_Nonnull context);

#if defined(CCK_CONTEXT_INLINE) && defined(__x86_64__)

// rbx is the base pointer of functions that have both over-aligned and variable-sized locals. Clang
// saves it around assembly that clobbers it from version 19 on (and GCC never uses it so); before, we
// must. Measured: a fourth word to save and load takes a pair of switches from 2.1 to 2.9 ns.
#if defined(__clang__) && __clang_major__ < 19
#define CCK_SAVE_BASE "movq %%rbx, 24(%%rdi)\n\t"
#define CCK_LOAD_BASE "movq 24(%%rsi), %%rbx\n\t"
#define CCK_CLOBBER_BASE
#else
#define CCK_SAVE_BASE
#define CCK_LOAD_BASE
#define CCK_CLOBBER_BASE "rbx",
#endif

#if defined(__AVX512F__)
#define CCK_CLOBBER_AVX512 \
  "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define CCK_CLOBBER_AVX512
#endif
#if defined(__APX_F__)
#define CCK_CLOBBER_APX \
  "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31",
#else
#define CCK_CLOBBER_APX
#endif

/// What no switch keeps, but r15, rdi, rsi and rax, which each names by itself.
#define CCK_SWITCH_CLOBBERS \
  CCK_CLOBBER_BASE CCK_CLOBBER_AVX512 CCK_CLOBBER_APX "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", \
      "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc"

// SAFETY: nothing is pushed, so the caller's red zone stays intact. rsp and rbp (and rbx, see above) are
// restored by the switch back; everything else is in the clobber list. `notrack` lets the jump land on a label
// without endbr64 under indirect-branch tracking.
#define CCK_SWITCH_BODY \
  "leaq 1f(%%rip), %%rcx\n\t" \
  "movq %%rsp, (%%rdi)\n\t" \
  "movq %%rbp, 8(%%rdi)\n\t" \
  "movq %%rcx, 16(%%rdi)\n\t" CCK_SAVE_BASE \
  "movq (%%rsi), %%rsp\n\t" \
  "movq 8(%%rsi), %%rbp\n\t" CCK_LOAD_BASE \
  "notrack jmpq *16(%%rsi)\n" \
  "1:\n\t"

CCK_INLINE cck_arrival_t cck_context_switch_arriving(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument) {
  __asm__ volatile(CCK_SWITCH_BODY : "+D"(save), "+S"(load), "+a"(argument) : : "r15", CCK_SWITCH_CLOBBERS);
  return (cck_arrival_t){argument, load};
}

// SAFETY: as above. r15 is not clobbered: it held `pair` before, and holds it after, since whoever switches here
// saves in `pair[0]`, whose address it brings in rdi.
CCK_INLINE void *_Nullable cck_context_switch_to_partner(
    cck_context_t *_Nonnull pair, void *_Nullable argument) {
  cck_context_t *save, *load;
  register cck_context_t *kept __asm__("r15") = pair;
  // The compiler would compute the two addresses ahead of a loop, and load them from the stack in it.
  __asm__ volatile("leaq %c[size](%%r15), %%rdi\n\t"
                   "movq %%r15, %%rsi\n\t" CCK_SWITCH_BODY "movq %%rdi, %%r15\n"
                   : "=&D"(save), "=&S"(load), "+a"(argument)
                   : "r"(kept), [size] "i"(sizeof(cck_context_t))
                   : CCK_SWITCH_CLOBBERS);
  return argument;
}

#elif defined(CCK_CONTEXT_INLINE) && defined(__aarch64__)

#if defined(__linux__) && !defined(__ANDROID__)
#define CCK_CLOBBER_X18 "x18",
#else
#define CCK_CLOBBER_X18
#endif
#if defined(__ARM_FEATURE_SVE)
#define CCK_CLOBBER_SVE \
  "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15",
#else
#define CCK_CLOBBER_SVE
#endif

/// What no switch keeps, but x28, x9, x10 and x0, which each names by itself.
#define CCK_SWITCH_CLOBBERS \
  CCK_CLOBBER_X18 CCK_CLOBBER_SVE "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x11", "x12", "x13", "x14", "x15", \
      "x16", "x17", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x30", "v0", "v1", "v2", "v3", "v4", \
      "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", \
      "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc"

// SAFETY: sp, x29 and x19 are restored by the switch back; x18 is left alone where it belongs to the
// platform, but Linux's compilers keep values in it; everything else is in the clobber list. The new
// context finds its argument in x0. `hint #36` is bti j: a landing pad where branch targets are checked, nothing
// elsewhere.
#define CCK_SWITCH_BODY \
  "adr x11, 1f\n\t" \
  "mov x12, sp\n\t" \
  "stp x12, x29, [x9]\n\t" \
  "stp x11, x19, [x9, #16]\n\t" \
  "ldp x12, x29, [x10]\n\t" \
  "ldp x11, x19, [x10, #16]\n\t" \
  "mov sp, x12\n\t" \
  "br x11\n" \
  "1:\n\t" \
  "hint #36\n\t"

CCK_INLINE cck_arrival_t cck_context_switch_arriving(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument) {
  register void *from __asm__("x9") = save;
  register void *to __asm__("x10") = load;
  register void *value __asm__("x0") = argument;
  __asm__ volatile(CCK_SWITCH_BODY : "+r"(from), "+r"(to), "+r"(value) : : "x28", CCK_SWITCH_CLOBBERS);
  return (cck_arrival_t){value, to};
}

// SAFETY: as above. x28 is not clobbered: it held `pair` before, and holds it after, since whoever switches here
// saves in `pair[0]`, whose address it brings in x9.
CCK_INLINE void *_Nullable cck_context_switch_to_partner(
    cck_context_t *_Nonnull pair, void *_Nullable argument) {
  register void *from __asm__("x9") = pair + 1;
  register void *to __asm__("x10") = pair;
  register void *value __asm__("x0") = argument;
  register void *kept __asm__("x28") = pair;
  __asm__ volatile(CCK_SWITCH_BODY "mov x28, x9\n"
                   : "+r"(from), "+r"(to), "+r"(value)
                   : "r"(kept)
                   : CCK_SWITCH_CLOBBERS);
  return value;
}

#endif

#if defined(CCK_CONTEXT_INLINE)

/// The switch without a thought for sanitizers; see `cck_context_switch`.
CCK_INLINE void *_Nullable cck_context_switch_bare(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument) {
  return cck_context_switch_arriving(save, load, argument).argument;
}

#else

void *_Nullable cck_context_switch_bare(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument);

CCK_INLINE cck_arrival_t cck_context_switch_arriving(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument) {
  return (cck_arrival_t){cck_context_switch_bare(save, load, argument), save};
}

CCK_INLINE void *_Nullable cck_context_switch_to_partner(
    cck_context_t *_Nonnull pair, void *_Nullable argument) {
  return cck_context_switch_bare(pair + 1, pair, argument);
}

#endif

// `cck_context_switch_to_partner(pair, argument)` is a switch from `pair[1]` to `pair[0]`, for two flows of control
// that only switch to each other: who comes back brings the address of the pair along in a register, where others
// load it from the stack once more. What is found through it then does not wait for the frame pointer, which went
// through memory: 1.95 ns a generator's value, 2.37 without. Sanitizers are not told.

/// Suspends the running flow of control in `save` and goes on with `load`, which sees `argument`.
/// Returns, once something switches back to `save`, the argument of that switch.
CCK_INLINE void *_Nullable cck_context_switch(
    cck_context_t *_Nonnull save, cck_context_t *_Nonnull load, void *_Nullable argument) {
  if (CCK_UNLIKELY(cck_instrumented)) {
    return cck_context_switch_instrumented(save, load, argument);
  }
  return cck_context_switch_bare(save, load, argument);
}

/// The address of the caller's frame: inside the stack that runs now.
CCK_INLINE uintptr_t cck_context_frame(void) { return (uintptr_t)__builtin_frame_address(0); }

void cck_sanitizer_leave(cck_context_t *_Nonnull dead, cck_context_t *_Nonnull load);

/// Ends the program with a message: something has switched to a context that had finished.
_Noreturn void cck_context_resumed_after_end(void);

/// Leaves the running flow of control for good and goes on with `load`.
///
/// Whoever switches to `dead` after this, while its stack is still there, is told so and stopped.
CCK_INLINE _Noreturn void cck_context_leave(
    cck_context_t *_Nonnull dead, cck_context_t *_Nonnull load, void *_Nullable argument) {
  if (CCK_UNLIKELY(cck_instrumented)) cck_sanitizer_leave(dead, load);
  cck_context_switch_bare(dead, load, argument);
  cck_context_resumed_after_end();
}

#endif
