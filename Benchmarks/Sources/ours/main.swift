// SPDX-License-Identifier: Apache-2.0

import harness

Program(
  peer: "ours",
  rows: switching + launching + channels + threads + selecting + promises + objects + actors
    + time + memory + files + crowds + grid + growth + growthOfSelect
).run()
