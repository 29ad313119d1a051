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

  /// How many posts before this one are missing. It is 0, except for an observer of a prefix.
  ///
  /// More posts were waiting for it than there was room for, or the bus has dropped some of a name
  /// that the table does not count. The corresponding C field is `n_dropped`.
  public let dropped: Int

  /// Makes an event, as a test of a listener may want to.
  ///
  /// - Parameters:
  ///   - name: the name that was posted.
  ///   - coalesced: how many posts the event stands for, 1 or more.
  ///   - dropped: how many posts before it are missing.
  public init(name: NotificationName, coalesced: Int = 1, dropped: Int = 0) {
    self.name = name
    self.coalesced = coalesced
    self.dropped = dropped
  }
}
