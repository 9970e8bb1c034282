// SPDX-License-Identifier: Apache-2.0
//
// cck_entry: the first instruction of every new context on the architectures whose switch is inline.
// The switch leaves the argument in rax / x0 and the entry function in rbp / x19. The call frame
// information says that there is no caller, and the frame pointer is zero: debuggers, backtracers and
// profilers stop here.

#if defined(__APPLE__)
#define SYMBOL(name) _##name
#else
#define SYMBOL(name) name
#endif

#if defined(__ELF__)
#define FUNCTION_TYPE(name) .type name, %function
#else
#define FUNCTION_TYPE(name)
#endif

#if !defined(CCK_FORCE_UCONTEXT)

#if defined(__x86_64__)
  .text
  .globl SYMBOL(cck_entry)
  FUNCTION_TYPE(cck_entry)
  .p2align 4
SYMBOL(cck_entry):
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  movq %rax, %rdi
  movq %rbp, %rdx
  xorl %ebp, %ebp
  // Not a call: the processor predicts returns from a stack of calls, and a call that never returns
  // would shift it for everything that runs on the thread afterwards (some 5 ns a frame).
  leaq 1f(%rip), %rcx
  pushq %rcx
  notrack jmpq *%rdx
1:
  ud2
  .cfi_endproc

#elif defined(__aarch64__)
  .text
  .globl SYMBOL(cck_entry)
  FUNCTION_TYPE(cck_entry)
  .p2align 4
SYMBOL(cck_entry):
  .cfi_startproc
  .cfi_undefined x30
  hint #36
  mov x29, xzr
  // Not a call, for the sake of return prediction; see above.
  adr x30, 1f
  br x19
1:
  brk #1
  .cfi_endproc
#endif

#endif

#if defined(__ELF__)
  .section .note.GNU-stack,"",%progbits
#endif
