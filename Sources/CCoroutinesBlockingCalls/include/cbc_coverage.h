// SPDX-License-Identifier: Apache-2.0
//
// Which blocking calls of a loaded library come here.
#ifndef CBC_COVERAGE_H
#define CBC_COVERAGE_H

#include <stdint.h>

/// Where an import of a library leads.
typedef enum cbc_import_kind {
  CBC_IMPORT_OURS,       ///< Here.
  CBC_IMPORT_ELSEWHERE,  ///< A call that we take over, but this library's goes to another definition.
  CBC_IMPORT_UNKNOWN,    ///< A call that can block, and that we do not take over.
  CBC_IMPORT_OWN,        ///< No import: the library has a definition of its own, and calls that.
} cbc_import_kind_t;

typedef void (*cbc_import_visitor)(
    void *_Nullable context, const char *_Nonnull name, cbc_import_kind_t kind);

/// Visits the blocking calls that a loaded library imports or defines.
///
/// `library` is a path, or the last part of one, or the beginning of that ("libpq"). Returns 0 if no such
/// library is loaded, -1 if this system's libraries cannot be read. `path` gets where it was loaded from.
int cbc_coverage_visit(
    const char *_Nonnull library, char *_Nonnull path, long capacity, void *_Nullable context,
    cbc_import_visitor _Nonnull visitor);

/// The file and the symbol around an address: 0 if unknown. The strings last as long as the file is
/// loaded.
int cbc_symbol_at(
    const void *_Nonnull address, const char *_Nullable *_Nonnull file,
    const char *_Nullable *_Nonnull symbol, uintptr_t *_Nonnull offset);

#endif
