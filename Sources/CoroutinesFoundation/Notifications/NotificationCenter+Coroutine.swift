// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

extension NotificationCenter: CoroutineNamespaceProviding {}

extension CoroutineNamespace where Base: NotificationCenter {
  /// The notifications that are posted from now on; does not park.
  ///
  /// Whoever posts is never held up, and receivers run on their own schedulers, after the post. The
  /// observer is removed when the stream is closed or dropped.
  ///
  /// - Parameters:
  ///   - name: Which ones.
  ///   - object: By whom; by anybody if left out. It is compared by identity.
  ///   - capacity: How many are kept for a slow receiver, and what happens to more.
  /// - Returns: The stream.
  public func notifications(
    named name: Notification.Name,
    object: AnyObject? = nil,
    capacity: ChannelCapacity = .droppingOldest(64)
  ) -> EventStream<Notification> {
    let stream = EventStream<Notification>(capacity: capacity)
    let sender = stream.sender
    // SAFETY: removed once, by whoever closes the stream; the center guards itself.
    nonisolated(unsafe) let observer = base.addObserver(
      forName: name,
      object: object,
      queue: nil
    ) { notification in
      // SAFETY: handed over to one receiver; what it carries is as safe as with any observer.
      nonisolated(unsafe) let notification = notification
      sender.sendIfReady(notification)
    }
    let center = base
    stream.onRelease { center.removeObserver(observer) }
    return stream
  }
}
