// SPDX-License-Identifier: Apache-2.0

/// A place that code will return to, on a stack in a dump.
///
/// Names come from the program's symbols, lines from its debug information, which is gone through from the beginning
/// for each address: for two seconds of processor time at most, then the rest have names only. What has been found is kept.
public struct StackFrame: Sendable, Hashable, CustomStringConvertible {
  /// The address.
  public let address: UInt
  /// The function, demangled, if its name is known: programs that have been stripped tell none.
  public let function: String?
  /// The source file, if the program has debug information.
  public let file: String?
  /// Line in that file.
  public let line: Int?
  /// The function is inlined into that of the next frame, whose address it shares.
  public let isInlined: Bool
  /// It belongs to the library or to the system, and says nothing about the program.
  let isInternal: Bool

  /// `fetch(_:) at /src/App/main.swift:12`; an address if no more is known.
  public var description: String {
    let place = file.map { file in " at \(file)" + (line.map { ":\($0)" } ?? "") } ?? ""
    return (function ?? "0x" + String(address, radix: 16)) + place
  }
}

extension StackFrame {
  static func frames(of addresses: [UInt]) -> [StackFrame] {
    NamedFrames(of: addresses).stack(addresses)
  }

  /// A place of which only the address is known.
  fileprivate init(unnamed address: UInt) {
    self.init(
      address: address,
      function: nil,
      file: nil,
      line: nil,
      isInlined: false,
      isInternal: false
    )
  }
}

/// The names of many addresses, looked up together.
struct NamedFrames {
  private let known: [UInt: [StackFrame]]

  init(of addresses: some Sequence<UInt>) { known = Symbols.frames(of: Set(addresses)) }

  /// The frames of a stack.
  func stack(_ addresses: [UInt]) -> [StackFrame] {
    addresses.flatMap { known[$0] ?? [StackFrame(unnamed: $0)] }
  }

  /// The program's own, or all, if none of them is the program's.
  func ownStack(_ addresses: [UInt]) -> [StackFrame] {
    let all = stack(addresses)
    let own = all.filter { !$0.isInternal && $0.function != nil }
    return own.isEmpty ? all : own
  }
}

extension CoroutineDump {
  /// The names of all addresses in it.
  var names: NamedFrames {
    var addresses: Set<UInt> = []
    for entry in entries { addresses.formUnion(entry.addresses) }
    for scheduler in schedulers { addresses.formUnion(scheduler.addresses) }
    return NamedFrames(of: addresses)
  }
}
