// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
import Synchronization

/// Room for one object of `KeptReferences`.
@usableFromInline
package struct KeptPlace: BitwiseCopyable {
  /// The object's address; 0 if there is none.
  @usableFromInline var object: UInt64
  /// Uses in progress.
  @usableFromInline var uses: Int64

  /// Bytes of all the places of a home; they begin at a multiple of it.
  @inlinable static var block: Int { 4096 }

  fileprivate static var empty: KeptPlace { KeptPlace(object: 0, uses: 0) }

  /// How far from the first place an object is looked for first; the place beside it comes second.
  ///
  /// Fibonacci hashing (Knuth, volume 3, 6.4), by what the addresses of objects are multiples of: it spreads neighbours best
  /// whose distances are small numbers.
  @inlinable @inline(__always)
  static func offset(of object: UInt64) -> Int {
    let product = (object &>> 4) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (product >> 56) << 4)
  }
}

/// Objects that a home's coroutines use for a short time, again and again: each is retained once, and each use of it is
/// counted without an atomic operation.
///
/// After biased and deferred reference counting (Choi, Shull and Torrellas, 2018; Deutsch and Bobrow, 1976): the
/// holder of the turn counts uses in plain memory, and the object's own count, which any thread may change, is touched
/// when the object comes and when it goes.
///
/// Invariants:
/// - B1. A place with an object has one retain of it, and keeps the object while uses of it are in progress.
/// - B2. Places belong to the holder of the home's turn (H1), whose thread's record has their address; other threads leave word
///   in `EndedElsewhere`.
/// - B3. A place whose uses are over gives its object up when the loop looks at the clock next, when it has nothing
///   ready, and before it ends.
/// - B4. The memory is never freed, like that of homes (H3): a use may end after its loop has.
private struct KeptReferences: ~Copyable {
  /// The home's places; the first of them has the address of this in place of an object.
  let places: UnsafeMutablePointer<KeptPlace>
  /// The places that have objects, by their indices, in no order.
  let occupied: UnsafeMutablePointer<UInt8>
  var count = 0

  init() {
    let number = KeptPlace.block / MemoryLayout<KeptPlace>.stride
    places = UnsafeMutableRawPointer.allocate(
      byteCount: KeptPlace.block,
      alignment: KeptPlace.block
    ).bindMemory(to: KeptPlace.self, capacity: number)
    places.initialize(repeating: .empty, count: number)
    occupied = .allocate(capacity: number)
    occupied.initialize(repeating: 0, count: number)
  }
}

/// Uses that have ended on threads without the turn, of all homes: it hardly ever happens.
private enum EndedElsewhere {
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var places: [UnsafeMutablePointer<KeptPlace>] = []
  private static let count = Atomic(0)
  private static let lock = AllocatedLock()

  static func add(_ place: UnsafeMutablePointer<KeptPlace>) {
    lock.withLock {
      places.append(place)
      count.wrappingAdd(1, ordering: .releasing)
    }
  }

  /// Takes those of one home, for the holder of its turn.
  static func take(of owner: UnsafeMutablePointer<KeptReferences>) {
    if count.load(ordering: .acquiring) == 0 { return }
    lock.withLock {
      let all = places.count
      places.removeAll { place in
        guard place.owner == owner else { return false }
        place.pointee.uses &-= 1
        return true
      }
      count.wrappingAdd(places.count - all, ordering: .relaxed)
    }
  }
}

extension UnsafeMutablePointer where Pointee == KeptPlace {
  /// Whose place this is.
  fileprivate var owner: UnsafeMutablePointer<KeptReferences> {
    // SAFETY: places lie in one block, at a multiple of its size, and the first of them has this address (`make`).
    let first = UInt(bitPattern: self) & ~UInt(KeptPlace.block - 1)
    let header = UnsafePointer<KeptPlace>(bitPattern: first).unsafelyUnwrapped
    return UnsafeMutablePointer<KeptReferences>(bitPattern: UInt(header.pointee.object))
      .unsafelyUnwrapped
  }
}

extension UnsafeMutablePointer where Pointee == KeptReferences {
  fileprivate static func make() -> UnsafeMutablePointer<KeptPlace> {
    let made = UnsafeMutablePointer.allocate(capacity: 1)
    made.initialize(to: KeptReferences())
    made.pointee.places.pointee.object = UInt64(UInt(bitPattern: made))
    return made.pointee.places
  }

  /// Begins a use of an object that has no place.
  ///
  /// - Returns: Its place; nil if others are in use at both.
  fileprivate func begin(_ object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<KeptPlace>? {
    let address = UInt64(UInt(bitPattern: object))
    let index = KeptPlace.offset(of: address) / MemoryLayout<KeptPlace>.stride
    let places = pointee.places
    // The first of all is no place for objects.
    let free = places[index].uses == 0 && index != 0 ? index : index ^ 1
    guard places[free].uses == 0, free != 0 else { return nil }
    let former = places[free].object
    // SAFETY: the caller holds the object; B1.
    _ = Unmanaged<AnyObject>.fromOpaque(object).retain()
    places[free] = KeptPlace(object: address, uses: 1)
    if former == 0 {
      pointee.occupied[pointee.count] = UInt8(truncatingIfNeeded: free)
      pointee.count += 1
    } else {
      release(former)
    }
    return places + free
  }

  /// Gives up what a place had.
  ///
  /// Last of all: the object's end may run code of the user's, which may come here.
  private func release(_ object: UInt64) {
    // SAFETY: B1; the place has another object, or none.
    let object = UnsafeRawPointer(bitPattern: UInt(object)).unsafelyUnwrapped
    Unmanaged<AnyObject>.fromOpaque(object).release()
  }

  /// Gives up the objects that are not in use.
  fileprivate func giveUp() {
    EndedElsewhere.take(of: self)
    var position = pointee.count
    while position > 0 {
      position -= 1
      let place = pointee.places + Int(pointee.occupied[position])
      if place.pointee.uses != 0 { continue }
      let object = place.pointee.object
      place.pointee = .empty
      pointee.count -= 1
      pointee.occupied[position] = pointee.occupied[pointee.count]
      release(object)
    }
  }
}

extension UnsafeMutablePointer where Pointee == Home {
  /// Gives up the references whose uses are over.
  ///
  /// The objects' ends may run code of the user's.
  @inline(__always)
  package func releaseUnused() {
    if let kept = pointee.kept { kept.owner.giveUp() }
  }
}

/// A use of an object: keeps it alive, most often without an atomic operation.
///
/// An object that only uses of this kind have kept lives on until a look of the loop after the last of them (B3). Outside a
/// scheduler's turn this is an ordinary reference.
@usableFromInline
package struct KeptReference: ~Copyable {
  /// Where the use is counted; or the address of the object, which is retained, and 1; or 0, if the use is over.
  @usableFromInline var use: UInt

  /// Begins a use.
  ///
  /// - Parameter object: A Swift object that the caller holds.
  @inlinable @inline(__always)
  package init(_ object: UnsafeMutableRawPointer) {
    if let places = UnsafeMutableRawPointer(bitPattern: currentThread().pointee.kept) {
      let address = UInt64(UInt(bitPattern: object))
      let first = (places + KeptPlace.offset(of: address)).assumingMemoryBound(to: KeptPlace.self)
      // SAFETY: the caller holds the object, so an equal address is the same object; B1 keeps it from here on.
      if _fastPath(first.pointee.object == address) {
        first.pointee.uses &+= 1
        use = UInt(bitPattern: first)
        return
      }
    }
    use = beginUse(object)
  }

  /// Ends the use; nothing happens if it is over.
  @inlinable @inline(__always)
  package mutating func end() { end(at: currentThread().pointee.kept) }

  /// The same, for who has looked already: `kept` is what the thread's record has while this coroutine runs.
  @inlinable @inline(__always)
  package mutating func end(at kept: UInt) {
    if use != 0 { endUse(use, kept) }
    use = 0
  }

  @inlinable @inline(__always)
  deinit {
    if use != 0 { endUse(use, currentThread().pointee.kept) }
  }
}

/// Ends a use, with the places of the home whose turn the thread has.
@inlinable @inline(__always)
func endUse(_ use: UInt, _ kept: UInt) {
  let offset = use &- kept
  if _fastPath(offset < UInt(KeptPlace.block)) {
    // SAFETY: one of the places of the home whose turn this thread has (B2).
    UnsafeMutablePointer<KeptPlace>(bitPattern: use).unsafelyUnwrapped.pointee.uses &-= 1
  } else {
    endOtherUse(use)
  }
}

/// Begins a use of an object that is not at its first place: at another, or by a retain.
@usableFromInline @inline(never)
func beginUse(_ object: UnsafeMutableRawPointer) -> UInt {
  let thread = currentThread()
  if let places = UnsafeMutablePointer<KeptPlace>(bitPattern: thread.pointee.kept) {
    let address = UInt64(UInt(bitPattern: object))
    let second = places + ((KeptPlace.offset(of: address) / MemoryLayout<KeptPlace>.stride) ^ 1)
    if second.pointee.object == address {
      second.pointee.uses &+= 1
      return UInt(bitPattern: second)
    }
  }
  if let home = thread.currentHome {
    let kept = home.pointee.kept ?? UnsafeMutablePointer<KeptReferences>.make()
    home.pointee.kept = kept
    thread.pointee.kept = UInt(bitPattern: kept)
    if let place = kept.owner.begin(object) { return UInt(bitPattern: place) }
  }
  // SAFETY: the caller holds the object.
  return UInt(bitPattern: Unmanaged<AnyObject>.fromOpaque(object).retain().toOpaque()) | 1
}

/// Ends a use that is not at a place of the home whose turn the thread has.
@usableFromInline @inline(never)
func endOtherUse(_ use: UInt) {
  if use & 1 != 0, let object = UnsafeRawPointer(bitPattern: use & ~1) {
    // SAFETY: balances the retain in `beginUse`.
    Unmanaged<AnyObject>.fromOpaque(object).release()
  } else if let place = UnsafeMutablePointer<KeptPlace>(bitPattern: use) {
    EndedElsewhere.add(place)
  }
}
