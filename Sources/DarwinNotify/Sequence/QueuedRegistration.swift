// Ties an iteration that merges nothing to its registration.

internal import DarwinNotifySupport

/// The registration of one iteration, which ends with the last reference.
///
/// The iteration is the loop that the handler runs in: posts wait in the C library, which bounds
/// their number and their size, and each is decoded when it is asked for.
final class QueuedRegistration<Element: Sendable>: Sendable {
  private let works = WorkPipe()
  private let arrived = Locked<Element?>(nil)
  private let observation: NotificationObservation

  init(_ register: QueuedNotifications<Element>.Register) throws(DarwinNotifyError) {
    let (works, arrived) = (works, arrived)
    observation = try register(.loop { works.add($0) }) { element in
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
      while let work = await works.next(isolation: isolation) {
        work()
        if let element = arrived.withLock({ $0.take() }) { return element }
      }
      return nil
    } onCancel: {
      end()
    }
  }

  /// What is left to do then brings nothing more.
  private func end() {
    observation.cancel()
    works.finish()
  }
}
