// Carries what a listener is told.

/// One delivery of a notification.
///
/// The corresponding C type is `dn_event`.
public struct NotificationEvent: Hashable, Sendable {
  /// The name that was posted.
  public let name: NotificationName

  /// How many posts this delivery stands for, 1 or more.
  ///
  /// Posts that wait for a slow listener are merged sooner or later; none is left out of the
  /// count. The corresponding C field is `n_posts`.
  public let coalesced: Int

  /// Makes an event, as a test of a listener may want to.
  ///
  /// - Parameters:
  ///   - name: the name that was posted.
  ///   - coalesced: how many posts the event stands for, 1 or more.
  public init(name: NotificationName, coalesced: Int = 1) {
    self.name = name
    self.coalesced = coalesced
  }
}
