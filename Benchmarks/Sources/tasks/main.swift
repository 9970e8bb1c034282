// SPDX-License-Identifier: Apache-2.0

import harness

Program(
  peer: "tasks",
  rows: suspending + launching + streams + continuations + actors + time + memory + files + crowds
    + grid
).run()
