// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// What `yield` hands its value to, whatever the type of the generator's values.
protocol YieldTarget: AnyObject {
  /// Makes a value and hands it over, if values of its type belong here.
  ///
  /// - Throws: `COError.notGenerator` if not; what `make` throws; `COError.generatorCancelled`.
  func yield<Value>(_ make: () throws -> Value) throws

  /// The type of the generator's values.
  var elementType: Any.Type { get }

  /// What `nextWithParam` gave for the value that is being made.
  var parameter: Any? { get }
}

/// The meeting place of a generator's body, a coroutine on its own queue, and those who ask for values,
/// coroutines on any.
///
/// ```
///   askers ──────▶ served ──────▶ value
///   in line        the body       handed over, or kept if the
///                  works for it   asker has gone meanwhile
/// ```
///
/// Invariants, under the lock:
/// - Y1. The body runs only for `served`: it waits in `awaitRequest` otherwise. So it never runs ahead.
/// - Y2. A value that was made goes to `served`; if that one was cancelled, to the first in line; else it is
///   kept, and the next to ask gets it without the body running.
/// - Y3. After the end nobody is in line.
final class GeneratorMachine<Element>: YieldTarget, @unchecked Sendable {
  // SAFETY: everything is guarded by the lock of `point`, except `parameter`, which is the body's.

  /// Somebody who wants a value, on the stack of whom it waits.
  private final class Asker {
    let parameter: Any?
    let queue: UnsafeMutablePointer<WaitQueue>
    var value: Element?

    init(_ parameter: Any?) {
      self.parameter = parameter
      queue = .allocate(capacity: 1)
      queue.initialize(to: WaitQueue())
    }

    deinit {
      queue.deallocate()
    }
  }

  /// The lock, and the body while it waits for a request.
  private let point = WaitPoint()
  private var line: [Asker] = []
  private var served: Asker?
  private var kept: Element?
  private var ending: (any Error)?

  private(set) var parameter: Any?

  let elementType: Any.Type = Element.self

  // MARK: - Asking

  /// Asks for the next value and parks until it is there.
  func next(_ parameter: Any?) throws -> Element {
    // Whoever may not wait must not make the body run.
    guard Coroutines.Coroutine.current != nil else { throw COError.invalidCoroutine }
    if Coroutines.Coroutine.isCancelled { throw COError.coroutineCancelled }
    let asker = Asker(parameter)
    var wakes = ResumeList()
    let found: Result<Element, any Error>? = point.lock.withLock {
      if let kept, line.isEmpty {
        self.kept = nil
        return .success(kept)
      }
      if let ending { return .failure(ending) }
      line.append(asker)
      point.claimAll(&wakes)
      return nil
    }
    wakes.resumeAll()
    if let found { return try found.get() }

    var interruption: (any Error)?
    do {
      try Parking.wait(
        "Generator.next()",
        on: asker.queue,
        point.lock,
        unless: { asker.value != nil || ending != nil }
      )
    } catch {
      interruption = COError.translating(error)
    }
    let outcome: Result<Element, any Error> = point.lock.withLock {
      // A value that was handed over counts, even if a cancellation came at the same time.
      if let value = asker.value { return .success(value) }
      line.removeAll { $0 === asker }
      if served === asker { served = nil }
      return .failure(interruption ?? ending ?? COError.generatorClosed)
    }
    return try outcome.get()
  }

  // MARK: - Answering

  /// Parks the body until somebody asks.
  func awaitRequest() throws {
    do {
      while true {
        try Parking.wait(
          "yield",
          on: point.queue,
          point.lock,
          unless: { kept == nil && !line.isEmpty }
        )
        let asker: Asker? = point.lock.withLock {
          guard kept == nil, !line.isEmpty else { return nil }
          served = line.removeFirst()
          return served
        }
        if let asker {
          parameter = asker.parameter
          return
        }
      }
    } catch {
      throw error is CancellationError ? COError.generatorCancelled : error
    }
  }

  func yield<Value>(_ make: () throws -> Value) throws {
    try refuseIfCancelled()
    let made = try make()
    // An Int belongs into a generator of `Any` or of `Int?`, too.
    guard let value = made as? Element else { throw COError.notGenerator }
    try refuseIfCancelled()
    handOver(value)
    try awaitRequest()
  }

  private func handOver(_ value: Element) {
    var wakes = ResumeList()
    point.lock.withLock {
      guard let asker = served ?? line.first else {
        kept = value
        return
      }
      if served == nil { line.removeFirst() }
      served = nil
      asker.value = value
      let queue = asker.queue
      wakes.claimAll(of: &queue.pointee, .delivered)
    }
    wakes.resumeAll()
  }

  private func refuseIfCancelled() throws {
    if Coroutines.Coroutine.isCancelled { throw COError.generatorCancelled }
  }

  // MARK: - End

  /// The body has ended: everybody who waits, and who will ask, gets the reason.
  func end(_ reason: any Error) {
    var wakes = ResumeList()
    point.lock.withLock {
      ending = reason
      var askers = line
      if let served { askers.append(served) }
      line = []
      served = nil
      for asker in askers {
        let queue = asker.queue
        wakes.claimAll(of: &queue.pointee, .delivered)
      }
    }
    wakes.resumeAll()
  }
}
