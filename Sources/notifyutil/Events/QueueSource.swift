// Registers handlers on the queue of the watch.
import DarwinNotify
import Dispatch

final class QueueSource: EventSource {
  private let queue: DispatchQueue
  private let report: @Sendable (CInt) -> Void

  init(_ queue: DispatchQueue, _ report: @escaping @Sendable (CInt) -> Void) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken {
    let report = report
    return try NotifyToken(key, on: .queue(queue)) { report($0.rawValue) }
  }

  func end(_ token: NotifyToken) {
    token.cancel()
  }
}
