// Presents notifications as a sequence that merges none.

internal import DarwinNotifySupport

/// Notifications in the order in which they arrive, each as an element of its own.
///
/// Every iterator sees every post. Posts that it has not taken yet wait: up to 65,536, or 64 MiB
/// of them. Then the oldest are dropped, and the `dropped` of the next element has their number.
/// Leaving the loop, dropping the sequence or cancelling the task ends the registration.
///
///     for await event in try center.notifications(withPrefix: "com.example.") {
///       refresh(event.name)
///     }
///
/// The corresponding C function is `dn_center_observe_filtered`.
public struct QueuedNotifications<Element: Sendable>: AsyncSequence, Sendable {
  /// The sequence does not fail.
  public typealias Failure = Never

  /// Registers a handler that runs on the delivery.
  package typealias Register =
    @Sendable (
      _ delivery: Delivery, _ handler: @escaping @Sendable (Element) -> Void
    ) throws -> NotificationObservation

  /// `nil` if there is nothing to register.
  private let source: RegistrationSource<QueuedRegistration<Element>>?

  /// Registers a handler for each iteration; the one for the first iteration immediately.
  ///
  /// - Parameters:
  ///   - executor: the executor of the thread that calls the handlers, if it has one.
  ///   - register: registers a handler.
  /// - Throws: what `register` throws.
  package init(
    wokenOn executor: (any TaskExecutor)? = nil, _ register: @escaping Register
  ) throws {
    source = try RegistrationSource { try QueuedRegistration(wokenOn: executor, register) }
  }

  private init() {
    source = nil
  }

  /// A sequence without elements.
  package static var empty: Self { Self() }

  /// Begins an iteration.
  ///
  /// The first one has been registered since the sequence was made. Every further one is
  /// registered here; it ends at once if that fails.
  ///
  /// - Returns: an iterator, for one task.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(registration: source?.take())
  }

  /// An iteration over notifications.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let registration: QueuedRegistration<Element>?

    /// Waits for the next notification.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the notification, or `nil` once the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Element? {
      await registration?.next(isolation: actor)
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension QueuedNotifications.Iterator: Sendable {}

/// The registration of one iteration, which ends with the last reference.
///
/// The iteration is the loop that the handler runs in: posts wait in the C library, which bounds
/// their number and their size, and each is decoded when it is asked for.
final class QueuedRegistration<Element: Sendable>: Sendable {
  private let pipe = WorkPipe()
  private let executor: (any TaskExecutor)?
  private let arrived = Locked<Element?>(nil)
  private let observation: NotificationObservation

  init(
    wokenOn executor: (any TaskExecutor)?, _ register: QueuedNotifications<Element>.Register
  ) throws {
    self.executor = executor
    let (pipe, arrived) = (pipe, arrived)
    observation = try register(.loop { pipe.add($0) }) { element in
      arrived.withLock { $0 = element }
    }
  }

  deinit {
    end()
  }

  /// Returns the next element, or `nil` once the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> Element? {
    await withTaskCancellationHandler {
      // A piece of work may bring nothing: its post was dropped to make room.
      while let work = await pipe.next(isolation: isolation, wokenOn: executor) {
        work()
        if let element = arrived.withLock({ $0.take() }) { return element }
      }
      return nil
    } onCancel: {
      end()
    }
  }

  /// The remaining work then brings nothing more.
  private func end() {
    observation.cancel()
    pipe.finish()
  }
}
