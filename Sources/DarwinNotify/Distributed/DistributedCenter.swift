// Gives modules above this one access to the distributed notifications of a bus.

internal import CDarwinNotify
package import DarwinNotifySupport

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
        try checkPost(dn_center_post(center, name, object, userInfo?.list, options))
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
      var filter = filter
      var handler = dn_handler { handler(DistributedEvent($0)) }
      try check(
        delivery.withExecutor {
          dn_center_observe_filtered(center, &filter, &handler, $0, &observer)
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
  package func busStates() throws -> QueuedNotifications<Bool> {
    try QueuedNotifications { delivery, handler in
      try dn_bus_handler.observe(self.center, on: delivery, handler)
    }
  }
}

private let appleOptions = UInt32(DN_POST_DELIVER_IMMEDIATELY | DN_POST_TO_ALL_SESSIONS)

/// The posts that an observer asks for. The corresponding C type is `dn_filter`.
package struct DistributedFilter: Sendable {
  /// Which names.
  package enum Names: Sendable {
    case all
    case name(String)
    /// All that begin with a text.
    case prefix(String)
  }

  package var names: Names
  package var object: String?
  /// A `DN_SUSPENSION_` value; Apple's have the same values.
  package var behavior: UInt

  package init(_ names: Names, object: String? = nil, behavior: UInt = 0) {
    self.names = names
    self.object = object
    self.behavior = behavior
  }

  /// Lends the C form of the filter.
  func withFilter(
    _ body: (dn_filter) throws(DarwinNotifyError) -> Void
  ) throws(DarwinNotifyError) {
    var filter = dn_filter()
    filter.behavior = CInt(truncatingIfNeeded: behavior)
    try withOptionalCString(object) { (object) throws(DarwinNotifyError) in
      filter.object = UnsafeRawPointer(object)
      switch names {
      case .all: try body(filter)
      case .name(let name):
        try withCString(name) { (name) throws(DarwinNotifyError) in
          filter.name = name
          try body(filter)
        }
      case .prefix(let prefix):
        try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
          filter.prefix = prefix
          try body(filter)
        }
      }
    }
  }
}

/// One delivery of a distributed notification. The corresponding C type is `dn_event`.
package struct DistributedEvent: Sendable {
  package let name: String
  package let object: String?
  package let userInfo: PropertyList?
  /// How many posts it stands for, 1 or more.
  package let coalesced: Int
  /// How many posts before it are missing.
  package let dropped: Int
  /// Whether the bus was lost since the last delivery.
  package let mayHaveMissed: Bool
  /// The process that posted it, if known.
  package let sender: Sender?

  /// Copies an event that C lends.
  init(_ event: dn_event) {
    name = String(cString: event.name)
    object = event.object.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    userInfo = PropertyList(retaining: event.user_info)
    coalesced = Int(clamping: event.n_posts)
    dropped = Int(clamping: event.n_dropped)
    mayHaveMissed = event.may_have_missed
    sender = Sender(of: event)
  }
}
