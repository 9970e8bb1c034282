// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

#if os(Linux) && canImport(Runtime)
// Without it a program that is linked statically lacks functions that the other module needs.
import Glibc
import Runtime
#endif

/// What functions addresses are in.
///
/// With the toolchain's `Runtime`. It finds names at once, but goes through all lines of the program for the line of
/// one address: milliseconds for a small program, a second for a hundred megabytes of debug information. So lines are
/// looked up one by one, those of the program's own functions first, until `patience` is over, and kept.
enum Symbols {
  /// How long names and lines may be looked up in one call, in nanoseconds of the caller's processor time: on a busy
  /// machine a dump comes later, and is as good.
  private static let patience: Int64 = 2_000_000_000
  /// So many names are looked up between two looks at the clock.
  private static let piece = 64
  /// So many bytes behind its beginning a function has the line of that.
  private static let prologue = 5

  private static let lock = AllocatedLock()
  /// What has been found, lines included.
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var known: [UInt: [StackFrame]] = [:]

  /// The frames of each address: itself, after those that are inlined there.
  static func frames(of addresses: Set<UInt>) -> [UInt: [StackFrame]] {
    var found = lock.withUnobservedLock { known.filter { addresses.contains($0.key) } }
    let missing = addresses.subtracting(found.keys).sorted()
    guard !missing.isEmpty else { return found }
    #if os(Linux) && canImport(Runtime)
    let images = ImageMap.capture()
    let end = spent() + patience
    var names: [UInt: [StackFrame]] = [:]
    for first in stride(from: 0, to: missing.count, by: piece) {
      if spent() > end { break }
      let some = Array(missing[first..<min(first + piece, missing.count)])
      names.merge(look(some, images, [], until: 0)) { old, _ in old }
    }
    found.merge(names) { old, _ in old }
    func isOwn(_ address: UInt) -> Bool { names[address]?.contains { !$0.isInternal } ?? false }
    var full: [UInt: [StackFrame]] = [:]
    for address in missing.filter(isOwn) + missing.filter({ !isOwn($0) }) {
      if spent() > end { break }
      full.merge(look([address], images, .default, until: end)) { old, _ in old }
    }
    found.merge(full) { _, new in new }
    lock.withUnobservedLock { known.merge(full) { _, new in new } }
    #endif
    return found
  }

  #if os(Linux) && canImport(Runtime)
  /// Processor time that the calling thread has used.
  private static func spent() -> Int64 {
    let clock = cck_thread_clock()
    return clock == 0 ? clockNow() : cck_thread_time(clock)
  }

  private static func look(
    _ addresses: [UInt],
    _ images: ImageMap,
    _ options: Backtrace.SymbolicationOptions,
    until end: Int64
  ) -> [UInt: [StackFrame]] {
    var frames: [UInt: [StackFrame]] = [:]
    for frame in symbolicated(addresses, images, options) {
      guard let address = UInt64(frame.captured.originalProgramCounter).map({ UInt($0) }) else {
        continue
      }
      var location = frame.symbol?.sourceLocation
      var isSystem = frame.isSystem
      if let place = location, !isLine(place) {
        // Code for which the compiler gives no line, in a function with debug information: the toolchain's module
        // takes that for the system's, but the system's has none.
        isSystem = false
        location = frame.symbol.flatMap { lineBefore(address, in: $0, images, until: end) }
      }
      var isOurs = isOurs(frame.symbol?.rawName)
      if !isOurs, Self.isOurs(file: location?.path) {
        // Code of ours in a function of the program's, as where that parks: then the toolchain's module gives a line of
        // ours for it.
        isOurs = frame.inlined || frame.symbol == nil
        location =
          isOurs ? nil : frame.symbol.flatMap { lineBefore(address, in: $0, images, until: end) }
      }
      frames[address, default: []].append(
        StackFrame(
          address: address,
          function: frame.symbol.map { readable($0.name) },
          file: location?.path,
          line: location.flatMap { $0.line > 0 ? $0.line : nil },
          isInlined: frame.inlined,
          isInternal: isSystem || frame.isSwiftThunk || isOurs
        )
      )
    }
    return frames
  }

  private static func symbolicated(
    _ addresses: [UInt],
    _ images: ImageMap,
    _ options: Backtrace.SymbolicationOptions
  ) -> [SymbolicatedBacktrace.Frame] {
    let backtrace = try? Backtrace(from: CompactBacktrace(addresses: addresses))
    return backtrace?.symbolicated(with: images, options: options)?.frames ?? []
  }

  private static func isLine(_ place: SymbolicatedBacktrace.SourceLocation) -> Bool {
    place.line > 0 && !place.path.hasSuffix("<compiler-generated>")
  }

  /// The line of the code shortly before a place that has none of the program's, in the same function.
  ///
  /// What debuggers tell, too. If there is none, where the function begins.
  private static func lineBefore(
    _ address: UInt,
    in function: SymbolicatedBacktrace.Symbol,
    _ images: ImageMap,
    until end: Int64
  ) -> SymbolicatedBacktrace.SourceLocation? {
    let near = [4, 8, 16, 32, 64, 128].filter { $0 < function.offset }
    for distance in near + [function.offset - prologue] where distance > 0 && spent() < end {
      // The last one is the function itself, after what is inlined there.
      let frame = symbolicated([address - UInt(distance)], images, .default).last
      guard let symbol = frame?.symbol, symbol.rawName == function.rawName,
        let place = symbol.sourceLocation
      else { continue }
      if isLine(place), !isOurs(file: place.path) { return place }
    }
    return nil
  }
  #endif

  /// The demangler has no word for the code of a `main.swift` outside functions.
  private static func readable(_ name: String) -> String {
    name.hasSuffix(" in ") ? name + "main" : name
  }

  /// Swift's mangled names begin with the module, behind the standard library's type if they extend one; in C ours
  /// have a prefix.
  private static func isOurs(_ name: String?) -> Bool {
    guard let name else { return false }
    return [
      "$s10Coroutines", "$s15CoroutineKernel", "$sSp15CoroutineKernel", "$sSp10Coroutines", "cck_",
    ].contains { name.hasPrefix($0) }
  }

  /// Debug information names the files that this one stands beside.
  private static func isOurs(file: String?) -> Bool {
    guard let file else { return false }
    // Some are named from where the compiler ran, which is the package's directory.
    return ["Coroutines/", "CoroutineKernel/", "CCoroutineKernel/"].contains {
      file.hasPrefix(sources + $0) || file.hasPrefix("Sources/" + $0)
    }
  }

  /// The directory of all modules.
  private static let sources: String = {
    let path = "\(#filePath)"
    let own = "Coroutines/Diagnostics/Frames/Symbols.swift"
    return path.hasSuffix(own) ? String(path.dropLast(own.count)) : path
  }()
}
