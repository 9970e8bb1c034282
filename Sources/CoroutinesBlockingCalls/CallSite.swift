// SPDX-License-Identifier: Apache-2.0

import CCoroutinesBlockingCalls
import Coroutines

extension BlockingCalls {
  /// A place that makes a blocking call, and what became of the calls from there by coroutines for which
  /// parking was on.
  public struct CallSite: Sendable, Hashable, CustomStringConvertible {
    /// The call: `recv`.
    public let call: String
    /// Path of the library, or of the program, that makes it; nil if unknown.
    public let library: String?
    /// The function that makes it, as the library exports it; nil if it exports none there.
    public let symbol: String?
    /// Where in the function; without a `symbol`, where in the library.
    public let offset: UInt
    /// Calls that parked their coroutine.
    public let parked: Int
    /// Calls that another thread did, while the coroutine was parked.
    public let offloaded: Int
    /// Calls that went straight through: there was nothing to wait for, or they cannot be parked.
    public let passed: Int
    /// Those of the calls that kept the thread for the time of `setBlockThreshold(_:)` or longer, and all others on it waiting.
    public let blocked: Int
    /// The longest of these.
    public let longestBlock: Duration

    /// One line: what is called, where, and what came of it.
    public var description: String {
      var what: [String] = []
      if parked > 0 { what.append("parked \(parked)") }
      if offloaded > 0 { what.append("offloaded \(offloaded)") }
      if passed > 0 { what.append("passed through \(passed)") }
      if blocked > 0 {
        let milliseconds = longestBlock.components.attoseconds / 1_000_000_000_000_000
        let longest = longestBlock.components.seconds * 1000 + milliseconds
        what.append("blocked the loop \(blocked) times, for up to \(longest) ms")
      }
      return "\(call) in \(place): \(what.joined(separator: ", "))"
    }

    private var place: String {
      let file = library?.split(separator: "/").last.map { String($0) } ?? "unknown code"
      return "\(symbol ?? file)+0x\(String(offset, radix: 16))"
        + (symbol == nil ? "" : " (\(file))")
    }
  }

  /// What has become of the calls, one entry a call site: first those that blocked longest, then those that
  /// were made most often.
  ///
  /// Takes no lock and stops nobody; calls that go on meanwhile may be missing.
  ///
  /// Cost: up to some thousand lookups of addresses.
  public static func report() -> [CallSite] {
    let room = cbc_records_copy(nil, 0) + 16
    var records = [cbc_record_t](repeating: cbc_record_t(), count: room)
    let count = min(cbc_records_copy(&records, room), room)
    return records.prefix(count).map { CallSite($0) }
      .sorted {
        ($0.longestBlock, $0.calls, $0.call) > ($1.longestBlock, $1.calls, $1.call)
      }
  }

  /// Begins the counts anew.
  public static func resetReport() {
    cbc_records_reset()
  }

  /// A call that keeps its thread for so long counts as having blocked it; one millisecond unless changed.
  ///
  /// - Parameter threshold: More than zero.
  public static func setBlockThreshold(_ threshold: Duration) {
    cbc_set_block_threshold(max(1, threshold.saturatedNanoseconds))
  }
}

extension BlockingCalls.CallSite {
  /// Calls in all.
  var calls: Int { parked + offloaded + passed }

  init(_ record: cbc_record_t) {
    var file: UnsafePointer<CChar>?
    var symbol: UnsafePointer<CChar>?
    var offset = UInt(bitPattern: record.address)
    // SAFETY: an address that a call was to return to; the strings are copied before anything is unloaded.
    if let address = record.address { _ = cbc_symbol_at(address, &file, &symbol, &offset) }
    self.init(
      call: record.name.map { String(cString: $0) } ?? "?",
      library: file.map { String(cString: $0) },
      symbol: symbol.map { String(cString: $0) },
      offset: offset,
      parked: Int(record.parked),
      offloaded: Int(record.offloaded),
      passed: Int(record.passed),
      blocked: Int(record.blocked),
      longestBlock: .nanoseconds(record.longest_block)
    )
  }
}
