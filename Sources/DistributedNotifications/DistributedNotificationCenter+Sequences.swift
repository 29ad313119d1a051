// Presents distributed notifications as sequences.

public import DarwinNotify
public import Foundation

extension DistributedNotificationCenter {
  /// Returns the matching notifications as a sequence.
  ///
  /// It is registered when this returns: no later post is missed, however late the iteration
  /// begins. No post is merged with another, and none is dropped as long as there is room.
  ///
  /// Like Apple's function, it does not throw. If the registration fails, ``onError`` gets the
  /// error before this returns, and the sequence is empty: its iterations end at once.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func notifications(
    named name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce
  ) -> QueuedNotifications<DistributedNotification> {
    var notifications = QueuedNotifications<DistributedNotification>.empty
    report {
      notifications = try QueuedNotifications { delivery, handler in
        try self.observe(
          name, object: object, suspensionBehavior: suspensionBehavior, on: delivery, handler)
      }
    }
    return notifications
  }

  /// Returns the notifications of all names with a prefix as a sequence.
  ///
  /// The bus delivers all posts of distributed notifications to this process from then on.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names, compared byte by byte; empty for all names.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func notifications(
    withPrefix prefix: String, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce
  ) throws -> QueuedNotifications<DistributedNotification> {
    try QueuedNotifications { delivery, handler in
      try self.observe(
        withPrefix: prefix, object: object, suspensionBehavior: suspensionBehavior, on: delivery,
        handler)
    }
  }

  /// Returns a sequence of the states of the center's bus: first the current state, then
  /// each change.
  ///
  /// No change is left out, so the values alternate. Only if more than 16 are waiting to be taken
  /// are they merged into the last one. Posts of other programs while there is no bus are missed.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: `DarwinNotifyError.outOfMemory`.
  ///
  /// The corresponding C function is `dn_center_observe_bus`.
  public func busStates() throws -> QueuedNotifications<Bool> {
    try center.busStates()
  }
}
