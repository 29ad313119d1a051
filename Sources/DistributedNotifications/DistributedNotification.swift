// Carries what an observer of the distributed center is told.

internal import DarwinNotify
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

  /// What the notification carries; `nil` if it carries nothing.
  ///
  /// Values have the types `String`, `Bool`, `Int` (above its range `UInt64`), `Double`, `Data`,
  /// `Date`, `[Any]` and `[String: Any]`. It is decoded anew each time: keep it if you read more
  /// than one value.
  public var userInfo: [AnyHashable: Any]? { event.userInfo?.userInfo }

  /// How many posts this delivery stands for, 1 or more: those of one name and object that came
  /// while the observers were suspended are delivered as one if they are to be coalesced.
  ///
  /// The corresponding C field is `n_posts`.
  public var coalesced: Int { event.coalesced }

  /// How many posts before this one are missing.
  ///
  /// More were waiting for the observer than there was room for, or the bus has dropped them. Of
  /// the latter nobody knows whether the observer would have got them.
  ///
  /// The corresponding C field is `n_dropped`.
  public var dropped: Int { event.dropped }
}

extension Notification {
  /// Makes the notification of Foundation.
  init(_ event: DistributedEvent) {
    self.init(
      name: Name(event.name), object: event.object, userInfo: event.userInfo?.userInfo)
  }
}
