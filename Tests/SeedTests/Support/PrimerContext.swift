// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

/// The `ucontext_t` of the primer and its functions, on the kernel's contexts.
///
/// `init()` is `getcontext` without the jump back, `init(stackSize:link:)` is `makecontext`, and `swap(to:)`
/// is `swapcontext`. When the function of a context has ended, its link goes on (`uc_link`).
final class PrimerContext {
  let place: UnsafeMutablePointer<cck_context_t>
  private let stack: UnsafeMutablePointer<cck_stack_t>?
  private let link: PrimerContext?
  private var function: () -> Void
  private(set) var hasEnded = false

  /// A context for the flow of control that runs now; it is filled in by the first swap.
  init() {
    place = .allocate(capacity: 1)
    place.initialize(to: cck_context_t())
    (stack, link, function) = (nil, nil, {})
  }

  /// A context that begins with a function, on a stack of its own.
  init(stackSize: Int, link: PrimerContext, _ function: @escaping () -> Void) throws {
    let stack = try #require(cck_stack_acquire(currentThread(), cck_stack_class(stackSize)))
    place = stack.context
    (self.stack, self.link, self.function) = (stack, link, function)
    cck_context_make(place, stack.pointee.low, stack, enterPrimerContext)
  }

  deinit {
    if let stack {
      cck_context_retire(place)
      cck_stack_release(currentThread(), stack)
    } else {
      place.deallocate()
    }
  }

  /// Keeps the running flow of control in this context, and goes on with another one.
  @inline(never)
  func swap(to other: PrimerContext) {
    precondition(!other.hasEnded, "The function of this context has ended; it cannot go on.")
    _ = cck_context_switch(place, other.place, Unmanaged.passUnretained(other).toOpaque())
  }

  /// Runs the function.
  ///
  /// - Returns: The places to leave and to go on at.
  fileprivate func run() -> (
    own: UnsafeMutablePointer<cck_context_t>, link: UnsafeMutablePointer<cck_context_t>
  ) {
    function()
    // What the function held may hold this context.
    function = {}
    hasEnded = true
    guard let link else { preconditionFailure("A context without a link has ended.") }
    return (place, link.place)
  }
}

private let enterPrimerContext: cck_entry_t = { argument in
  // SAFETY: `swap` passes the context, which outlives its function. Nothing is held when it leaves.
  guard let argument else { return }
  let way = Unmanaged<PrimerContext>.fromOpaque(argument).takeUnretainedValue().run()
  cck_context_leave(way.own, way.link, nil)
}
