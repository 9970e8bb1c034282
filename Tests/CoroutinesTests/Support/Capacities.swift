// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The capacities that channel tests go through: none, the small ones, a big one, no limit.
let allCapacities: [ChannelCapacity] = [0, 1, 2, 3, 64, .unbounded]

/// Those with a limit, at which a sender parks.
let limitedCapacities: [Int] = [0, 1, 2, 3, 64]
