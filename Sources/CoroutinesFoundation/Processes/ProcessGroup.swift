// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Looks into process groups.
enum ProcessGroup {
  /// Somebody in the group runs, and may be sent signals.
  ///
  /// One that has ended and that nobody has collected yet does not count. There may never be anybody who
  /// does: not every container's first process collects orphans.
  static func hasRunningMember(_ group: Int32) -> Bool {
    guard kill(-group, 0) == 0 else { return false }
    #if os(Linux)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else {
      return true
    }
    return names.contains { name in
      guard name.first?.isNumber == true,
        let status = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
        // Number, name in parentheses (which may hold anything), state, parent, group, …
        let end = status.lastIndex(of: ")")
      else { return false }
      let fields = status[end...].split(separator: " ")
      return fields.count > 3 && fields[1] != "Z" && fields[1] != "X" && Int32(fields[3]) == group
    }
    #else
    return true
    #endif
  }
}
