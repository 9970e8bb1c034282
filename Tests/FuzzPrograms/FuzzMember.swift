// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A coroutine of a program, and what is known about it.
///
/// It knows when it must be cancelled: itself, with its parent, or by a block that its code is in.
final class FuzzMember {
  let number: Int
  let isStubborn: Bool
  /// The blocks that its code is in, outermost first.
  private(set) var blocks: [FuzzBlock] = []
  /// Those that it launched outside any block, or in one that it has left.
  private var children: [FuzzMember] = []
  /// It has been cancelled as a whole.
  private(set) var isCancelled = false
  var wait: FuzzWait?
  var handle: Coroutine?
  var hasEnded = false

  init(_ number: Int, isStubborn: Bool) {
    self.number = number
    self.isStubborn = isStubborn
  }

  var name: String { "member \(number)" }

  /// There is a shield around what it does.
  var isShielded: Bool { blocks.contains { $0.kind == .shield } }

  /// What it does now is cancelled.
  var mustBeCancelled: Bool {
    for block in blocks.reversed() {
      if block.isCancelled { return true }
      if block.kind == .shield { return false }
    }
    return isCancelled
  }

  /// There is something around what it does, perhaps outside a shield, that is cancelled.
  var mayBeCancelled: Bool { isCancelled || blocks.contains(where: \.isCancelled) }

  /// Makes another one its child.
  func adopt(_ child: FuzzMember) {
    if let block = blocks.last { block.children.append(child) } else { children.append(child) }
    if mustBeCancelled { child.cancel() }
  }

  func cancel() {
    guard !isCancelled, !hasEnded else { return }
    isCancelled = true
    for child in children { child.cancel() }
    reach(blocks[...])
  }

  /// Cancels a block, as its deadline or an error in it does.
  func cancel(_ block: FuzzBlock) {
    guard !block.isCancelled, let index = blocks.firstIndex(where: { $0 === block }) else { return }
    block.isCancelled = true
    reach(blocks[index...])
  }

  /// Cancels the children of blocks, from outside inwards, up to the first shield.
  private func reach(_ blocks: ArraySlice<FuzzBlock>) {
    for block in blocks.prefix(while: { $0.kind != .shield }) {
      for child in block.children { child.cancel() }
    }
  }

  /// Cancels the blocks whose deadlines have passed.
  func timePasses(to now: Int64) {
    guard !hasEnded else { return }
    for block in blocks {
      if case .limit(let deadline) = block.kind, deadline <= now { cancel(block) }
    }
  }

  func enter(_ kind: FuzzBlock.Kind, at now: Int64) {
    blocks.append(FuzzBlock(kind))
    timePasses(to: now)
  }

  /// Leaves the innermost block; its children belong to what is around it.
  func leave() {
    let block = blocks.removeLast()
    if let outer = blocks.last {
      outer.children += block.children
    } else {
      children += block.children
    }
    // What the shield kept from them.
    if block.kind == .shield, mustBeCancelled { for child in block.children { child.cancel() } }
  }
}

/// A stretch of a coroutine's code that can be cancelled by itself, or is shielded.
final class FuzzBlock {
  enum Kind: Equatable {
    case limit(Int64)
    case shield
    case scope
  }

  let kind: Kind
  var isCancelled = false
  /// Coroutines launched in it.
  var children: [FuzzMember] = []

  init(_ kind: Kind) { self.kind = kind }
}

/// What a member waits for, if its call waits.
struct FuzzWait {
  /// The call.
  let operation: String
  var receives: [Int] = []
  var sends: [Int] = []
  /// A time ends it.
  var isTimed = false
  var promise: Int?
  /// It ends when these have.
  var members: [FuzzMember]?
  /// Cancellation does not end it.
  var isUninterrupted = false
}
