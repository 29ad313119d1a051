// Presents the notifications of a name as a sequence.

internal import DarwinNotifySupport

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
/// A loop on the main actor is woken without a detour through another thread. In a task that
/// prefers ``DarwinNotificationCenter/taskExecutor``, the loop runs where the post is received.
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
  ) throws {
    source = try RegistrationSource {
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

/// The state that the handler of an iteration shares with its iterator.
final class NotificationsStorage: Sendable {
  private struct State {
    /// The events since the iterator last asked.
    var event: NotificationEvent?
    var isFinished = false
  }

  private let state = Awaited(State())

  /// Takes an event, which also stands for one that has not been asked for.
  func receive(_ event: NotificationEvent) {
    state.change { state in
      if !state.isFinished { state.event = event.merged(with: state.event) }
    }
  }

  /// Returns the next event, or `nil` once the iteration is over.
  func next(
    isolation: isolated (any Actor)?, wokenOn executor: any TaskExecutor
  ) async -> NotificationEvent? {
    await state.wait(isolation: isolation, wokenOn: executor) {
      $0.event != nil || $0.isFinished
    }
    return state.change { $0.event.take() }
  }

  /// Ends the iteration.
  func finish() {
    state.change { $0 = State(isFinished: true) }
  }
}

extension NotificationEvent {
  /// The newest event, which also stands for the posts of an earlier one.
  fileprivate func merged(with earlier: NotificationEvent?) -> NotificationEvent {
    guard let earlier else { return self }
    return NotificationEvent(
      name: name, coalesced: earlier.coalesced + coalesced,
      sender: earlier.sender == sender ? sender : nil)
  }
}

/// The registration of one iteration, which ends with the last reference.
final class NotificationsRegistration: Sendable {
  private let storage: NotificationsStorage
  private let executor: CenterExecutor
  private let observation: NotificationObservation

  init(
    of name: NotificationName, from center: DarwinNotificationCenter
  ) throws {
    let storage = NotificationsStorage()
    self.storage = storage
    executor = center.executor
    observation = try center.observe(name, on: .inline) { storage.receive($0) }
  }

  /// Returns the next event, or `nil` once the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> NotificationEvent? {
    await withTaskCancellationHandler {
      await storage.next(isolation: isolation, wokenOn: executor)
    } onCancel: {
      observation.cancel()
      storage.finish()
    }
  }
}

/// The registrations of the iterations over one sequence. The first is made in advance.
package final class RegistrationSource<Registration: Sendable>: Sendable {
  private let make: @Sendable () throws -> Registration
  private let first: Locked<Registration?>

  package init(_ make: @escaping @Sendable () throws -> Registration) rethrows {
    self.make = make
    first = Locked(try make())
  }

  /// Returns the registration of the next iteration; `nil` if it could not be made.
  package func take() -> Registration? {
    first.withLock { $0.take() } ?? (try? make())
  }
}
