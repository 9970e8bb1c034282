// SPDX-License-Identifier: Apache-2.0

/// A program made of bytes: any bytes are one, and what the bytes do not say is zero.
package struct FuzzProgram: CustomStringConvertible {
  /// Seed of the order in which ready coroutines run; nil for first come, first served.
  let orderSeed: UInt64?
  let ending: FuzzEnding
  let channels: [FuzzChannel]
  let promiseCount: Int
  /// The coroutines that the main part launches.
  let roots: [[FuzzStep]]
  /// Whether a coroutine goes on with its next step when one was cancelled.
  let isStubborn: [Bool]

  /// Decodes a program.
  ///
  /// - Parameter bytes: Any bytes.
  package init(bytes: some Sequence<UInt8>) {
    var source = ByteSource(bytes)
    let flags = source.next()
    ending = FuzzEnding(rawValue: Int(flags & 3) % FuzzEnding.allCases.count) ?? .close
    orderSeed =
      flags & 4 == 0 ? nil : UInt64(source.next()) << 8 | UInt64(source.next())
    var channels: [FuzzChannel] = []
    for _ in 0...source.next(below: 4) {
      let byte = source.next()
      let policy = FuzzChannel.Policy(rawValue: Int(byte >> 6) - 1) ?? .wait
      var limit = [0, 1, 2, 3, 0, 8, 17, Int.max][Int(byte & 7)]
      if policy != .wait { limit = Swift.max(1, Swift.min(limit, 3)) }
      channels.append(FuzzChannel(limit: limit, policy: policy))
    }
    self.channels = channels
    promiseCount = 1 + source.next(below: 3)
    let count = 1 + source.next(below: 6)
    var roots: [[FuzzStep]] = []
    var isStubborn: [Bool] = []
    let ending = ending
    var decoder = StepDecoder(
      channels: channels.count,
      promises: promiseCount,
      roots: count,
      ending: ending
    )
    for index in 0..<count {
      let byte = source.next()
      // What is left waiting is cancelled: those who went on would change what was seen then.
      isStubborn.append(byte & 1 == 1 && ending != .abandon)
      decoder.root = index
      roots.append(decoder.block(&source, count: Int(byte >> 1) % 24, depth: 0))
    }
    self.roots = roots
    self.isStubborn = isStubborn
  }

  /// The program, one step a line.
  package var description: String {
    var lines = ["order: \(orderSeed.map { "seed \($0)" } ?? "first come"), ending: \(ending)"]
    for (index, channel) in channels.enumerated() {
      lines.append("channel \(index): \(channel.policy), \(channel.limit)")
    }
    for (index, root) in roots.enumerated() {
      lines.append("root \(index)\(isStubborn[index] ? ", stubborn" : ""):")
      lines += root.flatMap { Self.lines(of: $0, indented: 1) }
    }
    return lines.joined(separator: "\n")
  }

  private static func lines(of step: FuzzStep, indented depth: Int) -> [String] {
    let margin = String(repeating: "  ", count: depth)
    func block(_ head: String, _ blocks: [[FuzzStep]]) -> [String] {
      [margin + head]
        + blocks.enumerated().flatMap { index, steps in
          (index == 0 ? [] : [margin + "and"])
            + steps.flatMap { lines(of: $0, indented: depth + 1) }
        }
    }
    switch step {
    case .limit(let time, let steps): return block("limit \(time)", [steps])
    case .shield(let steps): return block("shield", [steps])
    case .launch(let steps, let isImmediate):
      return block(isImmediate ? "launch at once" : "launch", [steps])
    case .scope(let children, let steps): return block("scope", children + [steps])
    case .repeated(let count, let steps): return block("repeat \(count)", [steps])
    default: return [margin + "\(step)"]
    }
  }
}

/// Bytes one after the other, and then zeros.
struct ByteSource {
  private var bytes: [UInt8]
  private var position = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func next() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func next(below limit: Int) -> Int { Int(next()) % limit }
}

/// Makes steps of bytes.
private struct StepDecoder {
  let channels: Int
  let promises: Int
  let roots: Int
  let ending: FuzzEnding
  /// The coroutine that the steps are for: it joins only those before it, so that no ring of joins is made
  /// that nothing could end.
  var root = 0
  /// Steps that may still be made.
  private var budget = 240

  init(channels: Int, promises: Int, roots: Int, ending: FuzzEnding) {
    self.channels = channels
    self.promises = promises
    self.roots = roots
    self.ending = ending
  }

  mutating func block(_ source: inout ByteSource, count: Int, depth: Int) -> [FuzzStep] {
    var steps: [FuzzStep] = []
    for _ in 0..<count {
      guard budget > 0, !source.isAtEnd else { break }
      budget -= 1
      steps.append(step(&source, depth))
    }
    return steps
  }

  private mutating func nested(_ source: inout ByteSource, _ depth: Int) -> [FuzzStep] {
    guard depth < 3 else { return [] }
    return block(&source, count: 1 + source.next(below: 6), depth: depth + 1)
  }

  private mutating func step(_ source: inout ByteSource, _ depth: Int) -> FuzzStep {
    let code = source.next(below: 40)
    switch code {
    case 0..<5: return .send(source.next(below: channels))
    case 5..<10: return .receive(source.next(below: channels))
    case 10: return .sendIfReady(source.next(below: channels))
    case 11: return .receiveIfReady(source.next(below: channels))
    case 12: return .receiveAll(source.next(below: channels))
    case 13: return .receiveSome(source.next(below: channels), count: source.next(below: 4))
    case 14: return .receiveUntilClosed(source.next(below: channels))
    case 15: return .close(source.next(below: channels))
    case 16: return .look(source.next(below: channels))
    case 17..<22: return .select(clauses(&source))
    case 22: return .sleep(Int(source.next()))
    case 23: return .yield
    case 24, 25: return .limit(Int(source.next()), nested(&source, depth))
    case 26:
      let steps = nested(&source, depth)
      // Nothing could end a wait in there.
      return ending == .abandon ? .repeated(1, steps) : .shield(steps)
    case 27: return .cancel(source.next(below: roots))
    case 28:
      let byte = source.next()
      guard root > 0 else { return .yield }
      return .join(Int(byte >> 1) % root, cancels: byte & 1 == 1)
    case 29, 30: return .launch(nested(&source, depth), isImmediate: code == 30)
    case 31:
      let count = 1 + source.next(below: 2)
      let children = (0..<count).map { _ in nested(&source, depth) }
      return .scope(children, nested(&source, depth))
    case 32: return .repeated(1 + source.next(below: 4), nested(&source, depth))
    case 33: return .fulfill(source.next(below: promises))
    case 34: return .reject(source.next(below: promises))
    case 35: return .cancelPromise(source.next(below: promises))
    case 36, 37: return .await(source.next(below: promises), cancelsPromise: code == 37)
    case 38: return .observe(source.next(below: promises))
    default:
      let byte = source.next()
      let durations = (0..<(1 + Int(byte >> 2) % 3)).map { _ in Int(source.next()) }
      return .work(durations, FuzzCombination(rawValue: Int(byte & 3)) ?? .awaitAll)
    }
  }

  private func clauses(_ source: inout ByteSource) -> [FuzzClause] {
    var clauses: [FuzzClause] = []
    var hasDefault = false
    for _ in 0...source.next(below: 4) {
      let byte = source.next()
      let channel = Int(byte >> 4) % channels
      switch byte & 15 {
      case 0..<4: clauses.append(.receive(channel, handlesClosing: true))
      case 4, 5: clauses.append(.receive(channel, handlesClosing: false))
      case 6..<12: clauses.append(.send(channel))
      case 12, 13: clauses.append(.after(Int(source.next())))
      default:
        if !hasDefault { clauses.append(.otherwise) }
        hasDefault = true
      }
    }
    return clauses.isEmpty ? [.otherwise] : clauses
  }
}
