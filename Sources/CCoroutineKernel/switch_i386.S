// SPDX-License-Identifier: Apache-2.0
//
// The switch and the entry stub for i386 (System V ABI).
//
// A suspended context's sp points at this record on its own stack:
//
//   offset  register
//   ------  ----------------------------------------------------------------------------------
//        0  edi
//        4  esi
//        8  ebx   the entry function in a new context
//       12  ebp   zero in a new context, which ends a frame walk
//       16  eip   the caller's return address; cck_entry in a new context
//       20  the caller's outgoing arguments: save, load, argument
//
// No floating-point register is callee-saved: the x87 stack is empty at every call, and the xmm
// registers belong to the caller. The x87 control word and MXCSR are not switched (cck_context.h).

#if defined(__i386__) && !defined(CCK_FORCE_UCONTEXT)

#if defined(__APPLE__)
#define SYMBOL(name) _##name
#else
#define SYMBOL(name) name
#endif

  .text

// void *cck_context_switch_bare(cck_context_t *save, cck_context_t *load, void *argument)
//
// SAFETY: the record of `load` has the layout above, whoever stored it, so the call frame
// information holds on both sides of the instruction that replaces esp. The resuming jump is not a
// `ret`: the processor's return predictor would expect the caller of this call, which is never
// where it goes.
  .globl SYMBOL(cck_context_switch_bare)
#if defined(__ELF__)
  .type cck_context_switch_bare, %function
#endif
  .p2align 4
SYMBOL(cck_context_switch_bare):
  .cfi_startproc
  endbr32
  movl 4(%esp), %ecx
  movl 8(%esp), %edx
  movl 12(%esp), %eax
  pushl %ebp
  .cfi_adjust_cfa_offset 4
  .cfi_rel_offset %ebp, 0
  pushl %ebx
  .cfi_adjust_cfa_offset 4
  .cfi_rel_offset %ebx, 0
  pushl %esi
  .cfi_adjust_cfa_offset 4
  .cfi_rel_offset %esi, 0
  pushl %edi
  .cfi_adjust_cfa_offset 4
  .cfi_rel_offset %edi, 0
  movl %esp, (%ecx)
  movl (%edx), %esp
  popl %edi
  .cfi_adjust_cfa_offset -4
  .cfi_restore %edi
  popl %esi
  .cfi_adjust_cfa_offset -4
  .cfi_restore %esi
  popl %ebx
  .cfi_adjust_cfa_offset -4
  .cfi_restore %ebx
  popl %ebp
  .cfi_adjust_cfa_offset -4
  .cfi_restore %ebp
  popl %ecx
  .cfi_adjust_cfa_offset -4
  .cfi_register %eip, %ecx
  // `notrack`: a return address does not begin with endbr32.
  notrack jmp *%ecx
  .cfi_endproc
#if defined(__ELF__)
  .size cck_context_switch_bare, . - cck_context_switch_bare
#endif

// The first instruction of a new context: eax holds the argument, ebx the entry function, and esp
// is the 16-byte aligned top of the stack. There is no caller, which the undefined return address
// says.
  .globl SYMBOL(cck_entry)
#if defined(__ELF__)
  .type cck_entry, %function
#endif
  .p2align 4
SYMBOL(cck_entry):
  .cfi_startproc
  .cfi_undefined %eip
  endbr32
  xorl %ebp, %ebp
  // Twelve bytes and the argument's four keep esp on a 16-byte boundary at the call.
  subl $12, %esp
  .cfi_adjust_cfa_offset 12
  pushl %eax
  .cfi_adjust_cfa_offset 4
  call *%ebx
  ud2
  .cfi_endproc
#if defined(__ELF__)
  .size cck_entry, . - cck_entry
#endif

#endif

#if defined(__ELF__)
  .section .note.GNU-stack,"",%progbits
#endif
