// Registers for checks, and repeats them.
import DarwinNotify
import Dispatch

final class PollSource: EventSource, @unchecked Sendable {
  // Used only on the queue.
  private let report: @Sendable (CInt) -> Void
  private var tokens: [NotifyToken] = []
  private let timer: any DispatchSourceTimer

  private static let interval = DispatchTimeInterval.milliseconds(100)

  init(_ queue: DispatchQueue, _ report: @escaping @Sendable (CInt) -> Void) {
    self.report = report
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
    timer.setEventHandler { [unowned self] in
      for token in tokens where token.check() { report(token.rawValue) }
    }
    timer.activate()
  }

  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken {
    let token = try NotifyToken(key)
    tokens.appendForChecks(token)
    return token
  }

  func end(_ token: NotifyToken) {
    tokens.cancel(token)
  }
}

/// The types of registration that check each of their tokens for events.
extension [NotifyToken] {
  mutating func appendForChecks(_ token: NotifyToken) {
    _ = token.check()  // The first check always returns true.
    append(token)
  }

  mutating func cancel(_ token: NotifyToken) {
    token.cancel()
    removeAll { $0 === token }
  }
}
