// SPDX-License-Identifier: Apache-2.0

import CCoroutinesBlockingCalls

extension BlockingCalls {
  /// What of a library's blocking calls can be parked; see `coverage(of:)`.
  public struct Coverage: Sendable, Hashable, CustomStringConvertible {
    /// Where the library was loaded from.
    public let path: String
    /// Calls of the library that come here.
    public let covered: [String]
    /// Calls that could come here, but are bound to another definition: with the reason in
    /// `description`.
    public let boundElsewhere: [String]
    /// Calls of the library that may block, and that nobody takes over.
    public let notTakenOver: [String]
    /// Calls that the library defines itself, so that those from inside it are not seen: libc does.
    public let definedInside: [String]

    /// Everything of the library that this module takes over does come here.
    ///
    /// Look at `notTakenOver`, too: those still block.
    public var isCovered: Bool {
      !covered.isEmpty && boundElsewhere.isEmpty && definedInside.isEmpty
    }

    /// What this means, in words.
    public var description: String {
      var lines = ["\(path): \(isCovered ? "covered" : "not covered")"]
      func add(_ names: [String], _ meaning: String) {
        if !names.isEmpty { lines.append("  \(meaning): \(names.joined(separator: ", "))") }
      }
      add(covered, "parked")
      add(
        boundElsewhere,
        "blocking, because bound to another definition; link the program with -Xlinker --export-dynamic"
      )
      add(notTakenOver, "blocking, if they have to wait")
      add(definedInside, "defined in the library itself, whose own calls cannot be seen")
      return lines.joined(separator: "\n")
    }
  }

  /// Tells which blocking calls of a loaded library come here, and which do not.
  ///
  /// It reads what the dynamic linker has made of the library's imports. So a library must be loaded, linked
  /// or by `dlopen`, before this is called. A library that is linked statically is none any more: its calls
  /// are those of the program, and cannot be told apart. Nor can system calls made directly.
  ///
  /// - Parameter library: Its path, its file name, or the beginning of that up to a dot or a dash: `libpq.so.5`,
  ///   `libpq`.
  /// - Returns: Nil if no such library is loaded, or on systems whose libraries cannot be read.
  public static func coverage(of library: String) -> Coverage? {
    final class Imports {
      var names: [UInt32: Set<String>] = [:]
    }
    let imports = Imports()
    var path = [CChar](repeating: 0, count: 4096)
    // SAFETY: the object is alive until the call has returned, and used in it only.
    let result = cbc_coverage_visit(
      library,
      &path,
      path.count,
      Unmanaged.passUnretained(imports).toOpaque()
    ) { context, name, kind in
      guard let context else { return }
      let imports = Unmanaged<Imports>.fromOpaque(context).takeUnretainedValue()
      imports.names[kind.rawValue, default: []].insert(String(cString: name))
    }
    guard result > 0 else { return nil }
    func sorted(_ kind: cbc_import_kind_t) -> [String] {
      imports.names[kind.rawValue, default: []].sorted()
    }
    return Coverage(
      path: String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
      covered: sorted(CBC_IMPORT_OURS),
      boundElsewhere: sorted(CBC_IMPORT_ELSEWHERE),
      notTakenOver: sorted(CBC_IMPORT_UNKNOWN),
      definedInside: sorted(CBC_IMPORT_OWN)
    )
  }
}
