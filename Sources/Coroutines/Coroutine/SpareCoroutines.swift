// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// Objects of ended coroutines that nobody holds any more, kept by each thread for its next launches.
///
/// An object's way through the allocator and the runtime costs more than all else that a launch does.
/// Whoever drops a handle sees no difference: values, errors and labels go when the object would have
/// gone. Only the one object in `recent_object` is different: its handle was still held when it
/// ended, so it is looked at again at the next launch. It holds nothing but its own memory, and nobody
/// else refers to it, not even weakly.
///
/// Nothing is kept under a sanitizer (see cck_object.h), nor by threads without a kernel record.
@usableFromInline
enum SpareCoroutines {
  /// Objects that a list keeps, of some 400 bytes each.
  private static let limit: UInt32 = 1024

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
    cck_thread_on_exit { SpareCoroutines.drop($0) }
  }()

  /// An object of the class that lies ready on this thread.
  @inlinable @inline(__always)
  static func take<Object: Coroutine>(_ type: Object.Type, _ thread: ThreadRecord) -> Object? {
    let list = thread.spareList(of: ObjectIdentifier(type))
    guard let first = list.pointee else { return takeRecent(type, thread) }
    let fiber = first.assumingMemoryBound(to: Fiber.self)
    // SAFETY: the list holds a reference, which is handed to the caller.
    let object = Unmanaged<Coroutine>.fromOpaque(fiber.pointee.owner)
    guard object.isExactly(type) else {
      dropFirst(list, thread)
      return takeRecent(type, thread)
    }
    list.pointee = fiber.pointee.link.next.map { UnsafeMutableRawPointer($0) }
    thread.spareCount(of: list).pointee &-= 1
    return unsafeDowncast(object.takeRetainedValue(), to: type)
  }

  /// The object of the coroutine that ended last with its handle in use, if it no longer is.
  @inlinable @inline(__always)
  static func takeRecent<Object: Coroutine>(
    _ type: Object.Type,
    _ thread: ThreadRecord
  ) -> Object? {
    guard let recent = thread.pointee.recent_object else { return nil }
    // SAFETY: the record holds a reference, which is handed to the caller.
    let object = Unmanaged<Coroutine>.fromOpaque(recent)
    guard cck_object_is_unshared(recent) != 0, object.isExactly(type) else { return nil }
    thread.pointee.recent_object = nil
    return unsafeDowncast(object.takeRetainedValue(), to: type)
  }

  /// Ends the scheduler's reference to a coroutine that has ended.
  static func release(_ object: UnsafeMutableRawPointer) {
    let thread = currentThread()
    // SAFETY: the caller's reference, which ends in one of the ways below.
    let coroutine = Unmanaged<Coroutine>.fromOpaque(object)
    guard cck_object_counts_are_known() != 0, thread.pointee.registered != 0 else {
      coroutine.release()
      return
    }
    if cck_object_is_unshared(object) != 0 {
      keep(coroutine, thread)
    } else if cck_object_is_shared_by_two(object) != 0,
      coroutine._withUnsafeGuaranteedRef({ $0.holdsNothing })
    {
      let older = thread.pointee.recent_object
      thread.pointee.recent_object = object
      guard let older else { return }
      let coroutine = Unmanaged<Coroutine>.fromOpaque(older)
      if cck_object_is_unshared(older) != 0 {
        keep(coroutine, thread)
      } else {
        coroutine.release()
      }
    } else {
      coroutine.release()
    }
  }

  /// Puts an object that only the caller holds into its list.
  private static func keep(_ coroutine: Unmanaged<Coroutine>, _ thread: ThreadRecord) {
    let (fiber, list) = coroutine._withUnsafeGuaranteedRef {
      if $0.holdsNothing {
        $0.fiber.cell.pointee.content = .nothing
      } else {
        // May run code of the user's: what a value's end entails.
        $0.empty()
      }
      return ($0.fiber, thread.spareList(of: ObjectIdentifier(type(of: $0))))
    }
    let count = thread.spareCount(of: list)
    // That code may have taken another reference.
    guard count.pointee < limit, cck_object_is_unshared(coroutine.toOpaque()) != 0 else {
      coroutine.release()
      return
    }
    count.pointee += 1
    // SAFETY: a list links fibers, by their first field.
    fiber.pointee.link.next = list.pointee?.assumingMemoryBound(to: InboxLink.self)
    list.pointee = UnsafeMutableRawPointer(fiber)
  }

  /// Frees the first object of a list.
  @usableFromInline @inline(never)
  static func dropFirst(
    _ list: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ thread: ThreadRecord
  ) {
    guard let fiber = list.pointee?.assumingMemoryBound(to: Fiber.self) else { return }
    list.pointee = fiber.pointee.link.next.map { UnsafeMutableRawPointer($0) }
    thread.spareCount(of: list).pointee -= 1
    // SAFETY: the list's reference.
    Unmanaged<Coroutine>.fromOpaque(fiber.pointee.owner).release()
  }

  /// Frees all that a thread keeps, at its end.
  private static func drop(_ thread: ThreadRecord) {
    for index in 0..<Int(CCK_SPARE_LISTS) {
      let list = thread.spareLists + index
      while list.pointee != nil { dropFirst(list, thread) }
    }
    guard let recent = thread.pointee.recent_object else { return }
    thread.pointee.recent_object = nil
    // SAFETY: the record's reference.
    Unmanaged<Coroutine>.fromOpaque(recent).release()
  }
}

extension Unmanaged where Instance == Coroutine {
  /// The object is of the class, and of no subclass.
  @inlinable @inline(__always)
  func isExactly(_ class: Coroutine.Type) -> Bool {
    _withUnsafeGuaranteedRef { ObjectIdentifier(type(of: $0)) == ObjectIdentifier(`class`) }
  }
}

extension Coroutine {
  /// An ended coroutine that can wait to be freed without anybody noticing.
  fileprivate final var holdsNothing: Bool {
    let cell = fiber.cell
    return cell.pointee.content == .value && cell.pointee.destroy == nil && !cell.pointee.isBoxed
      && extras == nil && label == nil
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

  /// The length of a list.
  @inlinable @inline(__always)
  func spareCount(
    of list: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> UnsafeMutablePointer<UInt32> {
    // SAFETY: an array of as many elements as there are lists.
    withUnsafeMutablePointer(to: &pointee.spare_count) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt32.self)
    } + (list - spareLists)
  }
}
