// What a listener receives.

/// One delivery of a notification.
///
/// The corresponding C type is `dn_event`.
public struct NotificationEvent: Hashable, Sendable {
  /// The name that was posted.
  public let name: NotificationName

  /// How many posts this delivery stands for, 1 or more.
  ///
  /// Posts that wait for a slow listener are eventually merged, but each of them is counted. The
  /// corresponding C field is `n_posts`.
  public let coalesced: Int

  /// How many posts before this one are missing: 0, except for an observer of a prefix.
  ///
  /// Either there was no room for all posts that were waiting for it, or the bus dropped some of a
  /// name that the table does not count. The corresponding C field is `n_dropped`.
  public let dropped: Int

  /// Creates an event, for example to test a listener.
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
