// SPDX-License-Identifier: Apache-2.0
//
// The switch and the entry stub for 32-bit ARM (AAPCS), in ARM or Thumb-2 instructions, called from
// either.
//
// A suspended context's sp points at this record on its own stack:
//
//   offset  register
//   ------  ----------------------------------------------------------------------------------
//        0  d8–d15, 64 bytes, only where floating-point registers exist; F is 64 there, else 0
//   F +  0  (r3)  padding: keeps sp on an 8-byte boundary
//   F +  4  r4    the entry function in a new context
//   F +  8  r5, r6, r7, r8, r9, r10
//   F + 32  r11
//   F + 36  lr    the caller's return address; cck_entry in a new context. Bit 0 set means Thumb
//   F + 40  the caller's frame
//
// FPSCR is not switched (cck_context.h).

#if defined(__arm__) && !defined(CCK_FORCE_UCONTEXT)

#if defined(__APPLE__)
#define SYMBOL(name) _##name
#else
#define SYMBOL(name) name
#endif

// The unwinding directives exist for ELF only.
#if defined(__ELF__)
#define ELF(...) __VA_ARGS__
#else
#define ELF(...)
#endif

// Thumb-1 cannot push the high registers, so it gets ARM instructions: `bx` changes over.
  .syntax unified
#if defined(__thumb2__)
  .thumb
#if defined(__APPLE__)
#define FUNCTION(name) .thumb_func SYMBOL(name)
#else
#define FUNCTION(name) .thumb_func
#endif
#else
  .arm
#define FUNCTION(name)
#endif

  .text

// void *cck_context_switch_bare(cck_context_t *save, cck_context_t *load, void *argument)
//
// SAFETY: the record of `load` has the layout above, whoever stored it, so the unwinding directives
// hold on both sides of the instruction that replaces sp. `bx` takes the instruction set from bit 0
// of the return address. It goes by r12, not lr: `bx lr` is predicted as a return to the caller of
// this call, which is never where it goes.
  .globl SYMBOL(cck_context_switch_bare)
  ELF(.type cck_context_switch_bare, %function)
  .p2align 4
  FUNCTION(cck_context_switch_bare)
SYMBOL(cck_context_switch_bare):
  ELF(.fnstart)
  push {r3-r11, lr}
  ELF(.save {r3-r11, lr})
#if defined(__ARM_FP) && !defined(__SOFTFP__)
  vpush {d8-d15}
  ELF(.vsave {d8-d15})
#endif
  mov r12, sp
  str r12, [r0]
  ldr r12, [r1]
  mov sp, r12
  mov r0, r2
#if defined(__ARM_FP) && !defined(__SOFTFP__)
  vpop {d8-d15}
#endif
  pop {r3-r11, r12}
  bx r12
  ELF(.fnend)
  ELF(.size cck_context_switch_bare, . - cck_context_switch_bare)

// The first instruction of a new context: r0 holds the argument, r4 the entry function, and sp is
// the aligned top of the stack. There is no caller: unwinding is refused here, and the registers
// that may serve as frame pointer (r7 and r11) and the link register are zero.
  .globl SYMBOL(cck_entry)
  ELF(.type cck_entry, %function)
  .p2align 4
  FUNCTION(cck_entry)
SYMBOL(cck_entry):
  ELF(.fnstart)
  ELF(.cantunwind)
  mov r7, #0
  mov r11, #0
  mov lr, #0
  blx r4
  udf #0
  ELF(.fnend)
  ELF(.size cck_entry, . - cck_entry)

#endif

#if defined(__ELF__)
  .section .note.GNU-stack,"",%progbits
#endif
