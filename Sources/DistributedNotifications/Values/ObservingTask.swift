// Calls an asynchronous function for each element of a sequence.

internal import DarwinNotify
internal import Foundation

/// A task that iterates over a sequence until it is cancelled.
final class ObservingTask: ObservedRegistration {
  /// The group of the task that is running.
  @TaskLocal private static var running: DispatchGroup?

  private let task: Task<Void, Never>
  private let group: DispatchGroup

  init<Element: Sendable>(
    _ elements: QueuedNotifications<Element>,
    _ observer: @escaping @Sendable (Element) async -> Void
  ) {
    let group = DispatchGroup()
    self.group = group
    group.enter()
    task = Task.detached {
      await Self.$running.withValue(group) {
        for await element in elements {
          // It may have been cancelled while the element was decoded.
          guard !Task.isCancelled else { break }
          await observer(element)
        }
      }
      group.leave()
    }
  }

  func cancel() {
    task.cancel()
  }

  func waitUntilIdle() {
    if !isCallingThisTask { group.wait() }
  }

  var isCallingThisTask: Bool { Self.running === group }
}
