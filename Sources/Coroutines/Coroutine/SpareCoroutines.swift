// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// Objects of ended coroutines that nobody holds any more, kept by each thread for its next launches.
///
/// An object's way through the allocator and the runtime costs more than all else that a launch does.
/// Those that nobody holds when they end go into a list, as they are. Of those whose last handle goes later, the memory is kept
/// by the thread on which it goes (`SpareMemory`): the object has to end then, since that is what dropping a handle does.
///
/// Whoever drops a handle sees no difference: values, errors and labels go when the object would have
/// gone. Only the few *recent* objects are different, those whose handles were still held when they ended:
/// they are looked at again at the next launches. They hold nothing but their own memory, and when they ended
/// nobody referred to them weakly.
///
/// Nothing is kept under a sanitizer (see cck_object.h), nor by threads without a kernel record.
@usableFromInline
enum SpareCoroutines {
  /// Objects that a list keeps, of some 260 bytes each.
  private static let limit: UInt64 = 1024

  /// Learns how the runtime counts references, once.
  ///
  /// Before that, no object is kept.
  static let prepare: Void = {
    final class Probe {}
    let (single, pair) = (Unmanaged.passRetained(Probe()), Unmanaged.passRetained(Probe()).retain())
    // The kernel sees the addresses, so the compiler cannot put the objects anywhere but where all are.
    cck_object_learn(single.toOpaque(), pair.toOpaque())
    single.release()
    pair.release()
    pair.release()
    prepareForEnds()
    cck_thread_on_exit {
      SpareCoroutines.drop($0)
      $0.promiseMemory.drop()
      $0.coroutineMemory.drop()
    }
  }()

  /// Learns how an object looks that is about to go.
  private static func prepareForEnds() {
    final class Probe { deinit { cck_object_learn_end(Unmanaged.passUnretained(self).toOpaque()) } }
    // As above.
    Unmanaged.passRetained(Probe()).release()
  }

  /// An object of the class that lies ready on this thread, with the reference of the record.
  ///
  /// - Returns: Nil if the list begins with another class's; then `take` may find one.
  @inline(__always)
  static func takeAtHand(
    _ type: Coroutine.Type,
    _ thread: ThreadRecord
  ) -> Unmanaged<Coroutine>? {
    let list = thread.spareList(of: ObjectIdentifier(type))
    guard let fiber = list.first else { return takeRecent(type, thread) }
    // SAFETY: the list holds a reference, which is handed to the caller.
    let object = Unmanaged<Coroutine>.fromOpaque(fiber.owner)
    guard object.isExactly(type) else { return nil }
    list.pointee = fiber.pointee.link.next.map { UnsafeMutableRawPointer($0) }
    return object
  }

  /// The same, or the recent object before the last, or one that has ended elsewhere, or a new one in the memory of one that is gone.
  ///
  /// Lets go of another class's object that is first in the list.
  static func take(_ type: Coroutine.Type, _ thread: ThreadRecord) -> Unmanaged<Coroutine>? {
    if let object = takeAtHand(type, thread) { return object }
    let list = thread.spareList(of: ObjectIdentifier(type))
    if list.first != nil { dropFirst(list) }
    if let object = takeRecent(type, thread) ?? takeEarlier(type, thread) { return object }
    guard let fiber = SpareDepot.take(ObjectIdentifier(type)) else {
      // SAFETY: a class's metatype is its address, which objects begin with; all coroutines are of one size
      // (CoroutineLayoutTests); and the reference is handed to the caller.
      let metatype = unsafeBitCast(type, to: UnsafeRawPointer.self)
      return thread.coroutineMemory.take(metatype).map { Unmanaged.fromOpaque($0) }
    }
    list.pointee = fiber.pointee.link.next.map { UnsafeMutableRawPointer($0) }
    // SAFETY: as above.
    return Unmanaged<Coroutine>.fromOpaque(fiber.owner)
  }

  /// The last of the recent objects, if it is of the class and no longer in use.
  @inline(__always)
  private static func takeRecent(
    _ type: Coroutine.Type,
    _ thread: ThreadRecord
  ) -> Unmanaged<Coroutine>? {
    let last = thread.recentSlot(-1)
    guard let object = last.pointee, isFree(object, type) else { return nil }
    last.pointee = nil
    thread.pointee.recent_top &-= 1
    return Unmanaged<Coroutine>.fromOpaque(object)
  }

  /// The one before it: a coroutine that launched others ends after them, and its own handle is in use when theirs no longer
  /// are.
  private static func takeEarlier(
    _ type: Coroutine.Type,
    _ thread: ThreadRecord
  ) -> Unmanaged<Coroutine>? {
    let (last, previous) = (thread.recentSlot(-1), thread.recentSlot(-2))
    guard let object = previous.pointee, isFree(object, type) else { return nil }
    previous.pointee = last.pointee
    last.pointee = nil
    thread.pointee.recent_top &-= 1
    return Unmanaged<Coroutine>.fromOpaque(object)
  }

  /// Only the record holds the object, which is of the class.
  @inline(__always)
  private static func isFree(_ object: UnsafeMutableRawPointer, _ type: Coroutine.Type) -> Bool {
    // SAFETY: the record holds a reference.
    cck_object_is_unshared(object) != 0 && Unmanaged<Coroutine>.fromOpaque(object).isExactly(type)
  }

  /// Ends the scheduler's reference to a coroutine that has ended.
  @inline(__always)
  static func release(_ object: UnsafeMutableRawPointer) {
    let thread = currentThread()
    // SAFETY: the caller's reference, which ends in one of the ways below.
    let coroutine = Unmanaged<Coroutine>.fromOpaque(object)
    // Both say no of all objects as long as counts are not known.
    if cck_object_is_unshared(object) != 0, thread.pointee.registered != 0 {
      keep(coroutine, thread)
    } else if cck_object_is_shared_by_few(object) != 0, thread.pointee.registered != 0,
      coroutine._withUnsafeGuaranteedRef({ $0.holdsNothing })
    {
      keepRecent(object, thread)
    } else {
      coroutine.release()
    }
  }

  /// Notes an object whose handle is still in use.
  private static func keepRecent(_ object: UnsafeMutableRawPointer, _ thread: ThreadRecord) {
    let slot = thread.recentSlot(0)
    let oldest = slot.pointee
    slot.pointee = object
    thread.pointee.recent_top &+= 1
    if let oldest { letGo(oldest, thread) }
  }

  /// Ends the record's reference to the oldest of the recent objects.
  @inline(never)
  private static func letGo(_ oldest: UnsafeMutableRawPointer, _ thread: ThreadRecord) {
    // SAFETY: the record's reference, which ends in one of the ways below.
    let coroutine = Unmanaged<Coroutine>.fromOpaque(oldest)
    if cck_object_is_unshared(oldest) != 0 {
      keep(coroutine, thread)
    } else {
      coroutine.release()
    }
  }

  /// Puts an object that only the caller holds into its list.
  @inline(__always)
  private static func keep(_ coroutine: Unmanaged<Coroutine>, _ thread: ThreadRecord) {
    let isEmpty = coroutine._withUnsafeGuaranteedRef { $0.holdsNothing }
    guard isEmpty, put(coroutine, thread) else { return keepSlowly(coroutine, thread) }
  }

  /// Has an object that only the caller holds let go of what it holds, and makes room in a list that is full.
  @inline(never)
  private static func keepSlowly(_ coroutine: Unmanaged<Coroutine>, _ thread: ThreadRecord) {
    coroutine._withUnsafeGuaranteedRef { $0.empty() }
    // Somebody may have a reference now: that may have run code of the user's, at a value's end.
    guard cck_object_is_unshared(coroutine.toOpaque()) != 0 else { return coroutine.release() }
    if put(coroutine, thread) { return }
    let list = thread.spareList(
      of: coroutine._withUnsafeGuaranteedRef { ObjectIdentifier(type(of: $0)) }
    )
    if let first = list.first { SpareDepot.relieve(list, first) }
    if !put(coroutine, thread) { coroutine.release() }
  }

  /// Puts an object into its list that only the caller holds, and that holds nothing.
  ///
  /// - Returns: False if the list is full.
  @inline(__always)
  private static func put(_ coroutine: Unmanaged<Coroutine>, _ thread: ThreadRecord) -> Bool {
    let (fiber, list) = coroutine._withUnsafeGuaranteedRef {
      ($0.fiber, thread.spareList(of: ObjectIdentifier(type(of: $0))))
    }
    let position = 1 &+ (list.first?.pointee.identifier ?? 0)
    guard position <= limit else { return false }
    fiber.cell.pointee.content = .nothing
    // An object's number, of which it has no more use, is how many lie under it: nothing need be counted down.
    fiber.pointee.identifier = position
    // SAFETY: a list links fibers, by their first field.
    fiber.pointee.link.next = list.pointee?.assumingMemoryBound(to: InboxLink.self)
    list.pointee = UnsafeMutableRawPointer(fiber)
    return true
  }

  /// Frees the first object of a list.
  @inline(never)
  private static func dropFirst(_ list: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
    guard let fiber = list.first else { return }
    list.pointee = fiber.pointee.link.next.map { UnsafeMutableRawPointer($0) }
    // SAFETY: the list's reference.
    Unmanaged<Coroutine>.fromOpaque(fiber.owner).release()
  }

  /// Frees all that a thread keeps, at its end.
  private static func drop(_ thread: ThreadRecord) {
    for index in 0..<Int(CCK_SPARE_LISTS) {
      let list = thread.spareLists + index
      while list.first != nil { dropFirst(list) }
    }
    for index in 0..<Int32(CCK_RECENT_OBJECTS) {
      let slot = thread.recentSlot(index)
      guard let recent = slot.pointee else { continue }
      slot.pointee = nil
      // SAFETY: the record's reference.
      Unmanaged<Coroutine>.fromOpaque(recent).release()
    }
  }
}

extension Unmanaged where Instance == Coroutine {
  /// The object is of the class, and of no subclass.
  @inline(__always)
  func isExactly(_ class: Coroutine.Type) -> Bool {
    _withUnsafeGuaranteedRef { ObjectIdentifier(type(of: $0)) == ObjectIdentifier(`class`) }
  }
}

extension Coroutine {
  /// An ended coroutine that can wait to be freed without anybody noticing.
  @inline(__always)
  fileprivate final var holdsNothing: Bool {
    fiber.cell.pointee.takesNothing && extras == nil
  }
}

extension ThreadRecord {
  @inlinable @inline(__always)
  var spareLists: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    // SAFETY: an array inside the record, which does not move.
    withUnsafeMutablePointer(to: &pointee.spare_objects) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }
  }

  /// The list for objects of a class; it may hold others too.
  @inlinable @inline(__always)
  func spareList(of class: ObjectIdentifier) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    // Classes lie at multiples of 8 and more.
    spareLists + ((Int(bitPattern: `class`) >> 4) & (Int(CCK_SPARE_LISTS) - 1))
  }

  /// A place for a recent object, counted from that for the next one.
  @inline(__always)
  fileprivate func recentSlot(
    _ offset: Int32
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    let index = (pointee.recent_top &+ UInt32(bitPattern: offset)) & UInt32(CCK_RECENT_OBJECTS - 1)
    // SAFETY: an array inside the record, which does not move, of a length that is a power of two.
    return withUnsafeMutablePointer(to: &pointee.recent_objects) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    } + Int(index)
  }
}

extension UnsafeMutablePointer where Pointee == UnsafeMutableRawPointer? {
  /// The fiber of a list's first object.
  @inline(__always)
  fileprivate var first: UnsafeMutablePointer<Fiber>? {
    pointee?.assumingMemoryBound(to: Fiber.self)
  }
}
