// A notification, as an observer of the distributed center receives it.

internal import DarwinNotify
public import DarwinNotifySupport
public import Foundation

/// One delivery of a distributed notification.
///
/// The corresponding C type is `dn_event`.
public struct DistributedNotification: Sendable {
  let event: DistributedEvent

  /// The name that was posted.
  public var name: Notification.Name { Notification.Name(event.name) }

  /// The object that was posted.
  public var object: String? { event.object }

  /// The user info; `nil` if there is none.
  ///
  /// Values have the types `String`, `Bool`, `Int` (above its range `UInt64`), `Double`, `Data`,
  /// `Date`, `[Any]` and `[String: Any]`. It is decoded each time: store it if you read more than
  /// one value.
  public var userInfo: [AnyHashable: Any]? { event.userInfo?.userInfo }

  /// How many posts this delivery stands for, 1 or more. With
  /// ``DistributedNotificationCenter/SuspensionBehavior/coalesce``, posts of one name and object
  /// made while the observers were suspended are delivered as one.
  ///
  /// The corresponding C field is `n_posts`.
  public var coalesced: Int { event.coalesced }

  /// How many posts before this one are missing.
  ///
  /// Either there was no room for all posts that were waiting for the observer, or the bus dropped
  /// some that the same process had posted before. It is not known whether the observer would have
  /// received the latter. Nothing reports posts that the bus dropped after the last one that
  /// arrived.
  ///
  /// The corresponding C field is `n_dropped`.
  public var dropped: Int { event.dropped }

  /// Whether other posts may be missing, of which nobody knows: this is the first delivery to the
  /// observer since the bus was lost, for instance restarted.
  ///
  /// The corresponding C field is `may_have_missed`.
  public var mayHaveMissed: Bool { event.mayHaveMissed }

  /// The process that posted it; `nil` if the notification stands for several posts.
  ///
  /// For another process, only `connection` is known. `sender?.isOwn != true` leaves out the posts
  /// of this process. The corresponding C field is `sender`.
  public var sender: Sender? { event.sender }
}

extension Notification {
  /// Creates the Foundation notification.
  init(_ event: DistributedEvent) {
    self.init(
      name: Name(event.name), object: event.object, userInfo: event.userInfo?.userInfo)
  }
}
