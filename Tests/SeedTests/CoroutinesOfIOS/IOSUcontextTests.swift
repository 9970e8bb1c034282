// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Testing
import coswift

/// "Coroutines of iOS", section "Simple coroutines in C by one's own hands", on the kernel.
@Suite(.timeLimit(.minutes(30))) struct IOSUcontextTests {
  // `typedef struct ucontext`. The kernel's record has the registers that a switch keeps. The stack's bounds
  // are there for the sanitizers; signal masks are the thread's, and the link is the business of whoever
  // leaves.
  @Test func `a context is a place to go on at, with a stack`() {
    let context = cck_context_t()
    #expect(context.sp == nil)
    #expect(context.pc == nil)
    #expect(context.stack_size == 0)
  }

  // getcontext, setcontext. The document's program prints "Hello world" for ever; this one is stopped after
  // a thousand.
  @Test func `going back to a place again and again never gets behind the jump (2.1-14)`() throws {
    let thread = currentThread()
    let loop = UnsafeMutablePointer<HelloLoop>.allocate(capacity: 1)
    let main = UnsafeMutablePointer<cck_context_t>.allocate(capacity: 1)
    defer {
      loop.deallocate()
      main.deallocate()
    }
    main.initialize(to: cck_context_t())
    let stacks = (
      try #require(cck_stack_acquire(thread, 2)), try #require(cck_stack_acquire(thread, 2))
    )
    loop.initialize(to: HelloLoop(main: main, stacks: stacks))
    cck_context_make(stacks.0.context, stacks.0.pointee.low, stacks.0, sayHello)
    start(loop)
    #expect(loop.pointee.hellos == HelloLoop.limit)
    #expect(loop.pointee.ones == 0)
    for stack in [stacks.0, stacks.1] {
      cck_context_retire(stack.context)
      cck_stack_release(thread, stack)
    }
  }

  // makecontext, swapcontext, and "Threads of iOS imitated with ucontext": main thread → global thread →
  // main thread.
  @Test func `a function runs on a stack of its own, and then main goes on (2.1-15)`() throws {
    let log = Log()
    let main = PrimerContext()
    log("this is main thread")
    let global = try PrimerContext(stackSize: 1024 * 512, link: main) {
      log("this is global_func")
      log("1234567890")
    }
    main.swap(to: global)
    log("this is main thread")
    #expect(
      log.entries == [
        "this is main thread", "this is global_func", "1234567890", "this is main thread",
      ]
    )
    // The document's second swap is a segmentation fault; the samples' context refuses it.
    #expect(global.hasEnded)
  }

  // The same comment, one level up: what has ended can be resumed without harm.
  @Test func `what has ended is not resumed`() throws {
    let log = Log()
    let iterator = RJIterator(standardBlock: { log("runs") })
    #expect(iterator.next().done)
    #expect(iterator.next().done)
    try inCoroutine {
      let coroutine = co_launch { log("runs, too") }
      coroutine.join()
      coroutine.resume()
      coroutine.resumeNow()
    }
    #expect(log.entries == ["runs", "runs, too"])
  }

  // swap(&main, &child); "one's own scheduling on this basis makes the smallest coroutine library".
  @Test func `main and child take turns, and keep their variables`() throws {
    let log = Log()
    let main = PrimerContext()
    let itself = Cell<PrimerContext>()
    let child = try PrimerContext(stackSize: 1 << 14, link: main) {
      for number in 1...3 {
        log("child \(number)")
        itself.value?.swap(to: main)
      }
      itself.value = nil
    }
    itself.value = child
    for number in 1...3 {
      main.swap(to: child)
      log("main \(number)")
    }
    main.swap(to: child)
    #expect(child.hasEnded)
    #expect(log.entries == ["child 1", "main 1", "child 2", "main 2", "child 3", "main 3"])
  }
}

/// What the "Hello world" program works with: two stacks, of which it starts one anew while it is on the other.
private struct HelloLoop {
  static let limit = 1000

  let main: UnsafeMutablePointer<cck_context_t>
  let stacks: (UnsafeMutablePointer<cck_stack_t>, UnsafeMutablePointer<cck_stack_t>)
  var isOnSecond = false
  /// How often "Hello world" was printed.
  var hellos = 0
  /// How often "1111" was.
  var ones = 0
}

private let sayHello: cck_entry_t = { argument in
  guard let loop = argument?.assumingMemoryBound(to: HelloLoop.self) else { return }
  loop.pointee.hellos += 1  // puts("Hello world");
  goBack(loop)  // setcontext(&context);
  loop.pointee.ones += 1  // puts("1111");
}

/// Goes to where the program begins; after enough of it, out of it.
@inline(never)
private func goBack(_ loop: UnsafeMutablePointer<HelloLoop>) {
  let (first, second) = loop.pointee.stacks
  let (here, there) = loop.pointee.isOnSecond ? (second, first) : (first, second)
  if loop.pointee.hellos == HelloLoop.limit {
    cck_context_leave(here.context, loop.pointee.main, nil)
  }
  loop.pointee.isOnSecond.toggle()
  if loop.pointee.hellos > 1 { cck_context_retire(there.context) }
  cck_context_make(there.context, there.pointee.low, there, sayHello)
  cck_context_leave(here.context, there.context, loop)
}

@inline(never)
private func start(_ loop: UnsafeMutablePointer<HelloLoop>) {
  _ = cck_context_switch(loop.pointee.main, loop.pointee.stacks.0.context, loop)
}
