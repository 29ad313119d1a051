// Presents the notifications of a name as a sequence.

/// The notifications of a name, as a sequence.
///
/// Every iterator sees every post. Events that it has not taken yet are kept as one, the newest,
/// with the number of posts it stands for: a slow consumer loses nothing, it only sees posts
/// merged. Leaving the loop, dropping the sequence or cancelling the task ends the registration.
///
///     for await event in try center.notifications(named: "com.example.changed") {
///       refresh(event.name)
///     }
///
/// The corresponding C function is `dn_center_observe`.
public struct Notifications: AsyncSequence, Sendable {
  /// The type of the sequence's elements.
  public typealias Element = NotificationEvent

  /// The sequence never throws.
  public typealias Failure = Never

  private let source: RegistrationSource<NotificationsRegistration>

  init(
    of name: NotificationName, from center: DarwinNotificationCenter
  ) throws(DarwinNotifyError) {
    source = try RegistrationSource { () throws(DarwinNotifyError) in
      try NotificationsRegistration(of: name, from: center)
    }
  }

  /// Begins an iteration.
  ///
  /// The first iterator has been registered since the sequence was made. Each further one is
  /// registered here; if that fails, it ends at once.
  ///
  /// - Returns: an iterator, for one task.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(registration: source.take())
  }

  /// An iteration over the notifications of a name.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let registration: NotificationsRegistration?

    /// Waits for the next event.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the event, or `nil` once the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> NotificationEvent? {
      await registration?.next(isolation: actor)
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension Notifications.Iterator: Sendable {}
