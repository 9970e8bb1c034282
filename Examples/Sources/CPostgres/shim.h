// SPDX-License-Identifier: Apache-2.0
#include <libpq-fe.h>

// A character constant, which Swift does not import as the int that PQresultErrorField takes.
static const int example_sqlstate_field = PG_DIAG_SQLSTATE;
