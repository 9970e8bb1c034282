// SPDX-License-Identifier: Apache-2.0
//
// Calls of the system that the C library's Swift face lacks.

#ifndef CCOROUTINESFOUNDATION_H
#define CCOROUTINESFOUNDATION_H

#ifdef __cplusplus
extern "C" {
#endif

// Descriptors that a process does not hand on to the programs it starts. Setting the flag afterwards
// would be too late for a program that another thread starts in between.

/// A pipe: the end to read from first. 0, or -1 with errno.
int ccf_pipe(int ends[2]);

/// The next connection of a socket that listens; -1 with errno.
int ccf_accept(int listener);

/// Opens a new file at the path that the template becomes (see mkstemp); -1 with errno.
int ccf_open_temporary(char *path);

#ifdef __cplusplus
}
#endif

#endif
