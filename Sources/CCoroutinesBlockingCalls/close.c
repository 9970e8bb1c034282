// SPDX-License-Identifier: Apache-2.0
//
// close, dup2, dup3: they do not wait, but end the waits of others for the descriptor that goes.
#include "gate.h"

int CBC_NAME(close)(int descriptor) {
  cbc_closing(descriptor);
  return REAL(close)(descriptor);
}
CBC_INTERPOSE(close)

int CBC_NAME(dup2)(int from, int to) {
  if (from != to) cbc_closing(to);
  return REAL(dup2)(from, to);
}
CBC_INTERPOSE(dup2)

#if defined(__GLIBC__)
int CBC_NAME(dup3)(int from, int to, int flags) {
  if (from != to) cbc_closing(to);
  return REAL(dup3)(from, to, flags);
}
#endif
