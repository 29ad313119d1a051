// Gives modules above this one access to the distributed notifications of a bus.

internal import CDarwinNotify

/// The distributed center without Foundation: what the modules with Apple's interfaces stand on.
///
/// The corresponding C type is `dn_center`.
package final class DistributedCenter: Sendable {
  nonisolated(unsafe) let center: OpaquePointer
  // The pointer never changes. C accepts it on any thread.

  /// The center of the process. The corresponding C function is `dn_center_distributed`.
  package static let shared = DistributedCenter(adopting: dn_center_distributed())

  /// Opens a center with a connection of its own; it closes in the background. The corresponding C
  /// function is `dn_center_open_distributed`.
  package convenience init(bus: DarwinNotificationCenter.Bus) throws(DarwinNotifyError) {
    self.init(adopting: try openCenter(on: bus, by: dn_center_open_distributed))
  }

  private init(adopting center: OpaquePointer?) {
    guard let center else { preconditionFailure("C returned success without a center") }
    self.center = center
  }

  deinit {
    closeInBackground(center)
  }

  /// Posts a notification.
  ///
  /// - Parameters:
  ///   - name: the name to post.
  ///   - object: text that observers may ask for.
  ///   - userInfo: what the notification carries.
  ///   - options: bits of `DN_POST_DELIVER_IMMEDIATELY` and the like; Apple's have the same values.
  /// - Throws: the error of the C function.
  ///
  /// The corresponding C function is `dn_center_post`.
  package func post(
    _ name: String, object: String?, userInfo: PropertyList?, options: UInt
  ) throws(DarwinNotifyError) {
    // The other bits are those of this library.
    let options = UInt32(truncatingIfNeeded: options) & appleOptions
    try withCString(name) { (name) throws(DarwinNotifyError) in
      try withOptionalCString(object) { (object) throws(DarwinNotifyError) in
        try check(dn_center_post(center, name, object, userInfo?.list, options))
      }
    }
  }

  /// Calls a handler for every post that fits a filter, until the observation ends.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  package func observe(
    _ filter: DistributedFilter, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedEvent) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    try filter.withFilter { (filter) throws(DarwinNotifyError) in
      let handler = dn_handler { handler(DistributedEvent($0)) }
      try checkRegistration(
        delivery.withExecutor { executor in
          withUnsafePointer(to: filter) {
            dn_center_observe_filtered(center, $0, handler, executor, &observer)
          }
        })
    }
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Whether the observers in this process wait. The corresponding C functions are
  /// `dn_center_is_suspended` and `dn_center_set_suspended`.
  package var isSuspended: Bool { dn_center_is_suspended(center) }

  /// Suspends or resumes the observers in this process.
  package func setSuspended(_ isSuspended: Bool) throws(DarwinNotifyError) {
    try check(dn_center_set_suspended(center, isSuspended))
  }

  /// Whether the center is currently connected to its bus. The corresponding C function is
  /// `dn_center_is_on_bus`.
  package var isOnBus: Bool { dn_center_is_on_bus(center) > 0 }

  /// Whether the center is on its bus: first the current state, then each change. The corresponding
  /// C function is `dn_center_observe_bus`.
  package func busStates() throws(DarwinNotifyError) -> QueuedNotifications<Bool> {
    try QueuedNotifications { (delivery, handler) throws(DarwinNotifyError) in
      try dn_bus_handler.observe(self.center, on: delivery, handler)
    }
  }
}

private let appleOptions = UInt32(DN_POST_DELIVER_IMMEDIATELY | DN_POST_TO_ALL_SESSIONS)
