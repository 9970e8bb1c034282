// SPDX-License-Identifier: Apache-2.0
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
