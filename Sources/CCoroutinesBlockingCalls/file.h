// SPDX-License-Identifier: Apache-2.0
#ifndef CBC_FILE_H
#define CBC_FILE_H

#include "gate.h"

/// Where the file stands.
#define CBC_HERE (-1)

/// Reads a file, at `offset` or where it stands; what is not in memory, on another thread. Ends the frame.
ssize_t cbc_read_file(
    cbc_frame_t *frame, int descriptor, const struct iovec *buffers, int count, off_t offset);

/// An attempt that does not wait, where the system knows such: -1 with EAGAIN if it would have to, or with
/// EOPNOTSUPP if it cannot be had here.
ssize_t cbc_read_now(int descriptor, const struct iovec *buffers, int count, off_t offset);
ssize_t cbc_write_now(int descriptor, const struct iovec *buffers, int count);

#endif
