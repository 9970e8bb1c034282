// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// Records what coroutines do, for a timeline: what the kernel does not know of the events.
///
/// See `Home+Trace.swift` for how that costs nothing while it is off, and cck_trace.h for the rings.
package enum Recorder {
  /// What an event is about, besides coroutines; or where a coroutine was launched, and its name.
  package struct Object: Sendable {
    package enum Kind: Sendable { case launch, channel, promise, mutex, other }

    package let kind: Kind
    package let name: String?
    package let site: SourceSite?
  }

  /// Where coroutines run, or what else records events.
  package struct Lane: Sendable {
    package let name: String
    /// Among those of this name.
    package let number: Int
    /// Not a scheduler, but a thread on its own.
    package let isThread: Bool
  }

  /// All that was recorded.
  package struct Recording: Sendable {
    package var span = cck_trace_span_t()
    /// Of each thread, in order.
    package var rings: [[cck_trace_event_t]] = []
    /// Events that were overwritten.
    package var lost: UInt64 = 0
    package var lanes: [Lane] = []
    package var objects: [Object] = []
  }

  private static let lock = AllocatedLock()
  // SAFETY: all three are guarded by `lock`.
  nonisolated(unsafe) private static var session: UInt32 = 0
  nonisolated(unsafe) private static var lanes: [Lane] = []
  nonisolated(unsafe) private static var objects: [Object] = []

  /// An object's number says of which session it is.
  private static let numberBits: UInt32 = 24

  /// Tells the kernel whom to call, once.
  private static let installHooks: Void = {
    // SAFETY: the kernel passes what `TraceHooks` says.
    TraceHooks.lane = { Recorder.lane(of: $0?.assumingMemoryBound(to: Home.self)) }
    TraceHooks.willRun = {
      Recorder.willRun($0.assumingMemoryBound(to: Fiber.self), currentThread())
    }
    TraceHooks.didStop = {
      Recorder.didStop($0.assumingMemoryBound(to: Fiber.self), currentThread())
    }
  }()

  // MARK: - Sessions

  /// Begins to record.
  ///
  /// - Parameter capacity: Events that are kept of each thread; a power of two.
  /// - Returns: False if events are being recorded already.
  package static func start(capacity: UInt32) -> Bool {
    let begins = lock.withUnobservedLock {
      installHooks
      guard cck_trace_current() == 0 else { return false }
      lanes = []
      objects = []
      session = cck_trace_start(capacity)
      return session != 0
    }
    guard begins else { return false }
    let thread = currentThread()
    if let home = thread.currentHome {
      home.beginTrace(thread)
      if let fiber = thread.runningFiber { home.traceRun(of: fiber, thread) }
    }
    return true
  }

  /// A session is on.
  package static var isOn: Bool { isTracing }

  /// Ends the session that is on, and takes its events; nil if none is.
  package static func stop() -> Recording? {
    lock.withUnobservedLock { () -> Recording? in
      guard isTracing else { return nil }
      var recording = Recording()
      cck_trace_stop(&recording.span)
      withUnsafeMutablePointer(to: &recording) { cck_trace_visit(session, $0, takeRing) }
      cck_trace_forget()
      recording.lanes = lanes
      recording.objects = objects
      lanes = []
      objects = []
      return recording
    }
  }

  private static let takeRing:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<cck_trace_event_t>?, Int,
      UnsafePointer<cck_trace_event_t>?, Int, UInt64
    ) -> Void = { context, older, olderCount, newer, newerCount, lost in
      // SAFETY: the pointer that `stop` passes, while it is valid.
      guard let recording = context?.assumingMemoryBound(to: Recording.self) else { return }
      recording.pointee.rings.append(
        Array(UnsafeBufferPointer(start: older, count: olderCount))
          + Array(UnsafeBufferPointer(start: newer, count: newerCount))
      )
      recording.pointee.lost += lost
    }

  // MARK: - Who is who

  private static func lane(of home: UnsafeMutablePointer<Home>?) -> UInt16 {
    let label = home.map { $0.core.label } ?? threadName
    return lock.withUnobservedLock {
      // The last one stands for all that are too many.
      if lanes.count <= Int(UInt16.max) {
        // Loops of a pool, and threads, have one name for all.
        let others = lanes.count { $0.name == label }
        lanes.append(Lane(name: label, number: others + 1, isThread: home == nil))
      }
      return UInt16(lanes.count - 1)
    }
  }

  private static var threadName: String {
    if cck_thread_is_main() != 0 { return "main thread" }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      // SAFETY: the buffer has an address, and the function ends what it writes with a zero.
      let name = buffer.baseAddress.unsafelyUnwrapped
      cck_thread_name(name, buffer.count)
      return name.pointee == 0 ? "thread" : String(cString: name)
    }
  }

  /// A number for an object that has not been seen in this session.
  static func introduce(_ object: Object) -> UInt32 {
    lock.withUnobservedLock {
      guard objects.count < (1 << numberBits) - 1 else { return 0 }
      objects.append(object)
      return (session << numberBits) | UInt32(objects.count)
    }
  }

  /// The number is of the session that is on.
  static func isCurrent(_ number: UInt32) -> Bool {
    number != 0 && number >> numberBits == cck_trace_current() & 0xff
  }

  /// A number for an object that is known by two words; the thread remembers some.
  static func number(
    _ key: UInt64,
    _ first: UInt64,
    _ second: UInt64,
    _ thread: ThreadRecord,
    _ make: () -> Object
  ) -> UInt32 {
    guard let known = cck_trace_known(thread, key) else { return 0 }
    if known.pointee.key == key, known.pointee.first == first, known.pointee.second == second,
      isCurrent(known.pointee.object)
    {
      return known.pointee.object
    }
    let number = introduce(make())
    known.pointee = cck_trace_known_t(key: key, first: first, second: second, object: number)
    return number
  }

  // MARK: - Coroutines

  /// A coroutine is about to be put in line.
  static func launches(
    _ coroutine: Coroutine,
    by caller: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    tell(.launch, coroutine, by: caller?.pointee.identifier ?? 0, thread)
  }

  private static func tell(
    _ kind: TraceKind,
    _ coroutine: Coroutine,
    by caller: UInt64,
    _ thread: ThreadRecord
  ) {
    let (id, label, site) = (coroutine.id, coroutine.label, coroutine.creationSite)
    let place = UInt64(UInt(bitPattern: site.start))
    let what = UInt64(site.shortLine) << 32 | UInt64(truncatingIfNeeded: hash(label))
    let object = number(place ^ what &* 31, place, what, thread) {
      Object(kind: .launch, name: label.map { String(cString: $0) }, site: site)
    }
    if let known = cck_trace_known(thread, id) {
      known.pointee = cck_trace_known_t(key: id, first: 1, second: 0, object: object)
    }
    thread.record(kind, id, other: caller, object: object)
  }

  /// FNV-1a of a name (Fowler, Noll, Vo).
  private static func hash(_ label: UnsafePointer<CChar>?) -> UInt32 {
    guard var next = label else { return 0 }
    var hash: UInt32 = 2_166_136_261
    while next.pointee != 0 {
      hash = (hash ^ UInt32(UInt8(bitPattern: next.pointee))) &* 16_777_619
      next += 1
    }
    return hash
  }

  private static func willRun(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    let id = fiber.pointee.identifier
    if let known = cck_trace_known(thread, id), known.pointee.key != id || known.pointee.first != 1
    {
      tell(.meet, fiber.coroutine, by: 0, thread)
    }
    thread.record(.run, id)
  }

  private static func didStop(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    let id = fiber.pointee.identifier
    switch fiber.pointee.phase.load(ordering: .relaxed) {
    case .suspended:
      let operation = UInt64(UInt(bitPattern: fiber.pointee.operation))
      let subject = fiber.pointee.waitsOn.map {
        // SAFETY: the code that parked holds the object until it runs again, which only this loop has it do.
        Self.subject(of: Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue(), thread)
      }
      thread.record(
        .park,
        id,
        other: operation,
        object: subject?.number ?? 0,
        flags: subject?.isCoroutine == true ? 1 : 0
      )
    case .ready: thread.record(.yield, id)
    case .running, .ending, .dead: break
    }
  }

  /// A coroutine has ended.
  ///
  /// Runs on its stack.
  static func ends(_ coroutine: Coroutine, _ thread: ThreadRecord) {
    var end = TraceEnd.value
    if let failure = coroutine.failure { end = failure is CancellationError ? .cancelled : .error }
    thread.record(.end, coroutine.id, flags: end.rawValue)
  }

  /// Somebody asks for a cancellation.
  @inline(never)
  static func cancels(_ fiber: UnsafeMutablePointer<Fiber>) {
    let thread = currentThread()
    thread.record(.cancel, fiber.pointee.identifier, other: thread.runningNumber)
  }

  // MARK: - What they wait for

  private static func subject(
    of subject: AnyObject,
    _ thread: ThreadRecord
  ) -> (number: UInt32, isCoroutine: Bool) {
    // SAFETY: of each downcast below: `sort` has found out that the object is of this class.
    switch sort(of: subject, thread) {
    case .coroutine:
      (UInt32(truncatingIfNeeded: unsafeDowncast(subject, to: Coroutine.self).id), true)
    case .promise:
      (
        number(
          of: subject,
          .promise,
          unsafeDowncast(subject, to: AnyPromise.self).creationSite,
          thread
        ), false
      )
    case .channel: (UnsafeMutablePointer<ChannelCore>.ofChannel(subject).recordedNumber(), false)
    case .mutex: (number(of: subject, .mutex, nil, thread), false)
    case .other: (number(of: subject, .other, nil, thread), false)
    }
  }

  /// What sort of object somebody waits for.
  private enum Sort: UInt32 { case other, coroutine, promise, channel, mutex }

  /// Found out once for each class: asking whether a generic class conforms to a protocol takes longer than events.
  private static func sort(of subject: AnyObject, _ thread: ThreadRecord) -> Sort {
    let key = UInt64(UInt(bitPattern: ObjectIdentifier(type(of: subject))))
    let known = cck_trace_known(thread, key)
    if let known, known.pointee.key == key, known.pointee.first == 2 {
      return Sort(rawValue: known.pointee.object) ?? .other
    }
    let sort: Sort =
      switch subject {
      case is Coroutine: .coroutine
      case is AnyPromise: .promise
      case is any RecordedChannel: .channel
      case is CoroutineMutex: .mutex
      default: .other
      }
    known?.pointee = cck_trace_known_t(key: key, first: 2, second: 0, object: sort.rawValue)
    return sort
  }

  private static func number(
    of object: AnyObject,
    _ kind: Object.Kind,
    _ site: SourceSite?,
    _ thread: ThreadRecord
  ) -> UInt32 {
    let key = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    let place = site.map { UInt64(UInt(bitPattern: $0.start)) } ?? 0
    return number(key, place, UInt64(site?.shortLine ?? 0), thread) {
      Object(kind: kind, name: kind == .other ? "\(type(of: object))" : nil, site: site)
    }
  }
}
