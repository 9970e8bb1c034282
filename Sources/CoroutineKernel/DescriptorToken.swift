// SPDX-License-Identifier: Apache-2.0

/// What a poller is given with a descriptor, and gives back with an event.
struct DescriptorToken {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(_ descriptor: Int32, generation: UInt32, isOnce: Bool) {
    rawValue =
      UInt64(UInt32(bitPattern: descriptor)) | UInt64(generation) << 32 | (isOnce ? 1 << 63 : 0)
  }

  var descriptor: Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue)) }
  var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) & 0x7fff_ffff }
  var isOnce: Bool { rawValue >> 63 != 0 }
}
