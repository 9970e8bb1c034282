// SPDX-License-Identifier: Apache-2.0
//
// The first record on a new stack, for the architectures whose switch is out of line. It looks as
// if the context had been suspended by the switch just before its entry stub; `switch_<arch>.S`
// gives the layout.
#include "cck_context.h"

#if defined(CCK_CONTEXT_OUT_OF_LINE)

/// The entry stub, in `switch_<arch>.S`. It calls the function that it finds in its record.
extern void cck_entry(void);

void cck_context_prepare(
    cck_context_t *_Nonnull context, void *_Nonnull stack_low, void *_Nonnull stack_top,
    cck_entry_t _Nonnull entry);

// Indices of words in the record.
#if defined(__i386__)
enum { entry_word = 2, pc_word = 4, record_words = 5 };
#elif defined(__arm__) && defined(__ARM_FP) && !defined(__SOFTFP__)
enum { entry_word = 17, pc_word = 25, record_words = 26 };
#elif defined(__arm__)
enum { entry_word = 1, pc_word = 9, record_words = 10 };
#elif defined(__riscv) && defined(__riscv_flen)
enum { entry_word = 2, pc_word = 0, record_words = 26 };
#elif defined(__riscv)
enum { entry_word = 2, pc_word = 0, record_words = 14 };
#endif

void cck_context_prepare(
    cck_context_t *context, void *stack_low, void *stack_top, cck_entry_t entry) {
  (void)stack_low;
  // The record's end is where the stack pointer stands in the entry stub, so that is what is
  // aligned.
  uintptr_t *record = (uintptr_t *)((uintptr_t)stack_top & ~(uintptr_t)15) - record_words;
  // A pooled stack is not blank, and the frame pointer among these must be zero to end a frame
  // walk.
  for (int word = 0; word < record_words; word++) record[word] = 0;
  record[entry_word] = (uintptr_t)entry;
  record[pc_word] = (uintptr_t)cck_entry;
  context->sp = record;
  context->fp = NULL;
  context->pc = NULL;
  context->base = NULL;
}

#endif
