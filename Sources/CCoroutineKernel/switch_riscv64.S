// SPDX-License-Identifier: Apache-2.0
//
// The switch and the entry stub for riscv64 (LP64, LP64F and LP64D ABIs).
//
// A suspended context's sp points at this record on its own stack:
//
//   offset  register
//   ------  ----------------------------------------------------------------------------------
//        0  ra    the caller's return address; cck_entry in a new context
//        8  s0    the frame pointer; zero in a new context, which ends a frame walk
//       16  s1    the entry function in a new context
//       24  s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
//      104  fs0–fs11, eight bytes each, only where floating-point registers exist
//      200  padding: keeps sp on a 16-byte boundary (at 104 without floating-point registers)
//      208  the caller's frame (at 112 without floating-point registers)
//
// gp and tp belong to the process and the thread; fcsr is not switched (cck_context.h).

#if defined(__riscv) && __riscv_xlen == 64 && !defined(CCK_FORCE_UCONTEXT)

#if defined(__riscv_flen)
#define RECORD_SIZE 208
#if __riscv_flen == 64
#define STORE_FLOAT fsd
#define LOAD_FLOAT fld
#elif __riscv_flen == 32
#define STORE_FLOAT fsw
#define LOAD_FLOAT flw
#else
#error "floating-point registers wider than 64 bits are not supported"
#endif
#else
#define RECORD_SIZE 112
#endif

  .text

// void *cck_context_switch_bare(cck_context_t *save, cck_context_t *load, void *argument)
//
// SAFETY: the record of `load` has the layout above, whoever stored it, so the call frame
// information holds on both sides of the instruction that replaces sp. The resuming jump goes by
// t1: a jump by ra or t0 is predicted as a return to the caller of this call, which is never where
// it goes.
  .globl cck_context_switch_bare
  .type cck_context_switch_bare, %function
  .p2align 4
cck_context_switch_bare:
  .cfi_startproc
  addi sp, sp, -RECORD_SIZE
  .cfi_def_cfa_offset RECORD_SIZE
  sd ra, 0(sp)
  sd s0, 8(sp)
  sd s1, 16(sp)
  sd s2, 24(sp)
  sd s3, 32(sp)
  sd s4, 40(sp)
  sd s5, 48(sp)
  sd s6, 56(sp)
  sd s7, 64(sp)
  sd s8, 72(sp)
  sd s9, 80(sp)
  sd s10, 88(sp)
  sd s11, 96(sp)
  .cfi_rel_offset ra, 0
  .cfi_rel_offset s0, 8
  .cfi_rel_offset s1, 16
  .cfi_rel_offset s2, 24
  .cfi_rel_offset s3, 32
  .cfi_rel_offset s4, 40
  .cfi_rel_offset s5, 48
  .cfi_rel_offset s6, 56
  .cfi_rel_offset s7, 64
  .cfi_rel_offset s8, 72
  .cfi_rel_offset s9, 80
  .cfi_rel_offset s10, 88
  .cfi_rel_offset s11, 96
#if defined(__riscv_flen)
  STORE_FLOAT fs0, 104(sp)
  STORE_FLOAT fs1, 112(sp)
  STORE_FLOAT fs2, 120(sp)
  STORE_FLOAT fs3, 128(sp)
  STORE_FLOAT fs4, 136(sp)
  STORE_FLOAT fs5, 144(sp)
  STORE_FLOAT fs6, 152(sp)
  STORE_FLOAT fs7, 160(sp)
  STORE_FLOAT fs8, 168(sp)
  STORE_FLOAT fs9, 176(sp)
  STORE_FLOAT fs10, 184(sp)
  STORE_FLOAT fs11, 192(sp)
  .cfi_rel_offset fs0, 104
  .cfi_rel_offset fs1, 112
  .cfi_rel_offset fs2, 120
  .cfi_rel_offset fs3, 128
  .cfi_rel_offset fs4, 136
  .cfi_rel_offset fs5, 144
  .cfi_rel_offset fs6, 152
  .cfi_rel_offset fs7, 160
  .cfi_rel_offset fs8, 168
  .cfi_rel_offset fs9, 176
  .cfi_rel_offset fs10, 184
  .cfi_rel_offset fs11, 192
#endif
  sd sp, 0(a0)
  ld sp, 0(a1)
  mv a0, a2
  ld t1, 0(sp)
  .cfi_register ra, t1
  ld s0, 8(sp)
  ld s1, 16(sp)
  ld s2, 24(sp)
  ld s3, 32(sp)
  ld s4, 40(sp)
  ld s5, 48(sp)
  ld s6, 56(sp)
  ld s7, 64(sp)
  ld s8, 72(sp)
  ld s9, 80(sp)
  ld s10, 88(sp)
  ld s11, 96(sp)
  .cfi_restore s0
  .cfi_restore s1
  .cfi_restore s2
  .cfi_restore s3
  .cfi_restore s4
  .cfi_restore s5
  .cfi_restore s6
  .cfi_restore s7
  .cfi_restore s8
  .cfi_restore s9
  .cfi_restore s10
  .cfi_restore s11
#if defined(__riscv_flen)
  LOAD_FLOAT fs0, 104(sp)
  LOAD_FLOAT fs1, 112(sp)
  LOAD_FLOAT fs2, 120(sp)
  LOAD_FLOAT fs3, 128(sp)
  LOAD_FLOAT fs4, 136(sp)
  LOAD_FLOAT fs5, 144(sp)
  LOAD_FLOAT fs6, 152(sp)
  LOAD_FLOAT fs7, 160(sp)
  LOAD_FLOAT fs8, 168(sp)
  LOAD_FLOAT fs9, 176(sp)
  LOAD_FLOAT fs10, 184(sp)
  LOAD_FLOAT fs11, 192(sp)
  .cfi_restore fs0
  .cfi_restore fs1
  .cfi_restore fs2
  .cfi_restore fs3
  .cfi_restore fs4
  .cfi_restore fs5
  .cfi_restore fs6
  .cfi_restore fs7
  .cfi_restore fs8
  .cfi_restore fs9
  .cfi_restore fs10
  .cfi_restore fs11
#endif
  addi sp, sp, RECORD_SIZE
  .cfi_def_cfa_offset 0
  jr t1
  .cfi_endproc
  .size cck_context_switch_bare, . - cck_context_switch_bare

// The first instruction of a new context: a0 holds the argument, s1 the entry function, and sp is
// the 16-byte aligned top of the stack. There is no caller, which the undefined return address
// says.
  .globl cck_entry
  .type cck_entry, %function
  .p2align 4
cck_entry:
  .cfi_startproc
  .cfi_undefined ra
  li s0, 0
  li ra, 0
  jalr s1
  ebreak
  .cfi_endproc
  .size cck_entry, . - cck_entry

#endif

#if defined(__ELF__)
  .section .note.GNU-stack,"",%progbits
#endif
