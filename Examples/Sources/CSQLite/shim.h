// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift does not import: the text is copied.
static inline int example_bind_text(sqlite3_stmt *statement, int index, const char *text) {
  return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}
