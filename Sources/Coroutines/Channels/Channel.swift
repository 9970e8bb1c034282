// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
import Synchronization

/// Carries values from coroutines to coroutines, in order, each to one receiver.
///
/// ```swift
/// let lines = Channel<String>(capacity: 16)
/// launch {
///   defer { lines.close() }
///   for line in source { try lines.send(line) }
/// }
/// for line in lines { print(line) }
/// ```
///
/// A channel may be used from coroutines of any schedulers, from any thread (`sendIfReady`,
/// `receiveIfReady`, `close`), and from tasks (the `async` methods and `values`). Values are served first
/// come first served among senders and among receivers. Values need not be `Sendable`: sending one
/// transfers it.
///
/// | | waits while | when closed |
/// |---|---|---|
/// | `send` | full, and nobody receives | throws `ChannelError.closed` |
/// | `receive` | empty, and nobody sends | first what is kept, then throws `ChannelError.closed` |
/// | `for … in` | as `receive` | first what is kept, then ends |
///
/// Cost: while one thread uses it, a channel takes no atomic operation; the first use from a second
/// thread turns it, once and for all, into one with a lock (some microseconds).
public final class Channel<Element>: @unchecked Sendable {
  // SAFETY: a constant pointer to state that is guarded by its lock.

  @usableFromInline
  package let core: UnsafeMutablePointer<ChannelCore>

  /// Its name, if it was given one.
  public let name: String?

  /// Where it was made.
  public var creationSite: SourceSite { core.pointee.site }

  /// A channel.
  ///
  /// - Parameters:
  ///   - capacity: What it keeps; `rendezvous` if left out.
  ///   - name: For dumps and reports of deadlocks.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  @inlinable
  public convenience init(
    capacity: ChannelCapacity = .rendezvous,
    name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(capacity: capacity, name: name, at: SourceSite(file: file, line: line))
  }

  /// One that counts as made at a given place: where something was made that has it.
  @inlinable
  init(capacity: ChannelCapacity, name: String?, at site: SourceSite) {
    self.name = name
    let slots = Self.isRingBehindCore(limit: capacity.limit) ? capacity.limit : 0
    let memory = Self.allocate(slots: slots)
    core = Self.core(in: memory)
    core.initialize(
      to: ChannelCore(
        capacity,
        in: memory,
        site: site,
        stride: MemoryLayout<Element>.stride,
        isWord: _isPOD(Element.self) && MemoryLayout<Element>.size == MemoryLayout<UInt64>.size,
        moveValue: { target, source in
          // SAFETY: as `move`.
          target.assumingMemoryBound(to: Element.self)
            .moveInitialize(from: source.assumingMemoryBound(to: Element.self), count: 1)
        },
        exchange: { one, other in
          // SAFETY: callers pass two slots that hold values of this channel.
          let one = one.assumingMemoryBound(to: Element.self)
          let value = one.move()
          one.moveInitialize(from: other.assumingMemoryBound(to: Element.self), count: 1)
          other.assumingMemoryBound(to: Element.self).initialize(to: value)
        },
        grow: { core in Self.grow(core) }
      )
    )
    core.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    if slots > 0 {
      core.pointee.buffer = UnsafeMutableRawPointer(core) + Self.offsetOfRing
      core.pointee.slots = slots
    }
  }

  /// A channel that keeps so many values.
  ///
  /// - Parameters:
  ///   - capacity: Zero (a rendezvous) or more; a negative number stops the program.
  ///   - name: For dumps and reports of deadlocks.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  @inlinable
  public convenience init(
    capacity: Int,
    name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(capacity: .bounded(capacity), name: name, file: file, line: line)
  }

  deinit {
    // Nobody waits: whoever waits holds the channel.
    for index in 0..<core.pointee.count {
      core.address(ofKept: index).assumingMemoryBound(to: Element.self).deinitialize(count: 1)
    }
    if !Self.isRingBehindCore(limit: core.pointee.limit) { core.pointee.buffer?.deallocate() }
    let memory = core.pointee.memory
    core.deinitialize(count: 1)
    memory.deallocate()
  }

  /// A small ring is made whole with the channel, in the memory of its state; others have their own, and grow.
  @inlinable @inline(__always)
  static func isRingBehindCore(limit: Int) -> Bool { limit <= 1024 }

  /// Memory for the state, and for a ring of so many slots behind it.
  @inlinable @inline(__always)
  static func allocate(slots: Int) -> UnsafeMutableRawPointer {
    // What is aligned so is a multiple of 16 from the line.
    let alignment = 16
    let lost = CacheLine.mostLost(alignment: MemoryLayout<Element>.alignment) - (alignment - 1)
    return .allocate(
      byteCount: lost + offsetOfRing + slots * MemoryLayout<Element>.stride,
      alignment: alignment
    )
  }

  /// The state in its memory: from a cache line's beginning, so that what all write of it is in one.
  ///
  /// Allocators take several times as long for what they have to align.
  @inlinable @inline(__always)
  static func core(in memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<ChannelCore> {
    // SAFETY: `allocate` has added what this may lose.
    CacheLine.first(behind: memory, alignment: MemoryLayout<Element>.alignment)
      .assumingMemoryBound(to: ChannelCore.self)
  }

  /// From the state to a ring in its memory: the first multiple of the values' alignment behind it.
  @inlinable @inline(__always)
  static var offsetOfRing: Int {
    let mask = MemoryLayout<Element>.alignment - 1
    return (MemoryLayout<ChannelCore>.size + mask) & ~mask
  }

  /// Doubles a ring that has memory of its own, up to the limit.
  @usableFromInline @inline(never)
  static func grow(_ core: UnsafeMutablePointer<ChannelCore>) {
    let slots = Swift.min(core.pointee.limit, Swift.max(16, core.pointee.slots * 2))
    let ring = UnsafeMutableRawPointer.allocate(
      byteCount: slots * MemoryLayout<Element>.stride,
      alignment: MemoryLayout<Element>.alignment
    )
    for index in 0..<core.pointee.count {
      (ring + index * MemoryLayout<Element>.stride).assumingMemoryBound(to: Element.self)
        .moveInitialize(
          from: core.address(ofKept: index).assumingMemoryBound(to: Element.self),
          count: 1
        )
    }
    if isTracing, core.pointee.count > 0 { core.recordGrowth() }
    core.pointee.buffer?.deallocate()
    core.pointee.buffer = ring
    core.pointee.slots = slots
    core.pointee.head = 0
    if slots > ChannelGrowth.limit.load(ordering: .relaxed) {
      ChannelGrowth.note(core, slots)
    }
  }
}

extension Channel {
  /// Closes the channel: no more sends.
  ///
  /// Closing twice has no effect.
  ///
  /// Values that are kept can still be received. Waiting receivers and waiting senders are woken, each
  /// once, with `ChannelError.closed`; what the senders wanted to send is not delivered. Can be called
  /// from any thread; does not park.
  public func close() {
    var wakes = ResumeList()
    let thread = currentThread()
    let mode = core.lock.acquire(thread)
    if core.close(&wakes), isTracing { core.recordClose(thread) }
    core.lock.release(mode)
    wakes.resumeAll()
  }

  /// The channel has been closed.
  ///
  /// There may still be values to receive.
  public var isClosed: Bool { core.lock.withLock { core.pointee.isClosed } }

  /// Number of values kept now.
  public var count: Int { core.lock.withLock { core.pointee.count } }

  /// No value is kept now.
  ///
  /// A sender may be waiting all the same.
  public var isEmpty: Bool { count == 0 }

  /// Most values that it keeps; `Int.max` if there is no limit.
  public var capacity: Int { core.pointee.limit }
}
