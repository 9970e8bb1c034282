// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The descriptors that the process has open, each with what it is open on.
///
/// For processes of exit tests: elsewhere other tests open some meanwhile.
package struct OpenDescriptors {
  private let targets: [Int32: String]

  package var count: Int { targets.count }

  /// The highest number.
  package var highest: Int32 { targets.keys.max() ?? 2 }

  /// Those open now, among the first ten thousand.
  package static var now: OpenDescriptors {
    var targets: [Int32: String] = [:]
    for number in Int32(0)..<10_000 where fcntl(number, F_GETFD) >= 0 {
      targets[number] = target(of: number)
    }
    return OpenDescriptors(targets: targets)
  }

  /// Those that are open on a file.
  package func numbers(on path: String) -> Set<Int32> {
    Set(targets.filter { $0.value == path }.keys)
  }

  /// What was opened since and stays open, for a message.
  ///
  /// Empty if nothing does. Blocks for up to a minute. Others open some for a moment: Dispatch looks into `/proc`
  /// once a second at what its threads do, and what a cancelled call opens on another thread is closed when that call
  /// has ended.
  package func staysOpen() -> [String] {
    var left: [Int32: String] = [:]
    let end = ContinuousClock.now + .seconds(60)
    repeat {
      left = OpenDescriptors.now.targets.filter { targets[$0.key] == nil }
      if left.isEmpty { break }
      // No sleep: in a coroutine it could count in a test of blocking calls, which sees those of the whole process.
      sched_yield()
    } while ContinuousClock.now < end
    return left.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
  }

  private static func target(of number: Int32) -> String {
    String(unsafeUninitializedCapacity: Int(PATH_MAX)) { name in
      // SAFETY: both write no more than a path's greatest length into the string's own memory, which is that long.
      name.withMemoryRebound(to: CChar.self) { name in
        guard let start = name.baseAddress else { return 0 }
        #if canImport(Darwin)
        return fcntl(number, F_GETPATH, start) == 0
          ? strnlen(start, name.count) : 0
        #else
        return max(0, readlink("/proc/self/fd/\(number)", start, name.count))
        #endif
      }
    }
  }
}
