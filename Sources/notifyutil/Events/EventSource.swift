// The types of registration that report on a queue.

import DarwinNotify
import Dispatch
import Glibc

/// Registers in one way, then reports the number of each token that has an event.
///
/// It is used, and reports, only on the queue of the watch.
protocol EventSource: AnyObject {
  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken

  /// Ends a registration.
  func end(_ token: NotifyToken)
}

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

final class FileSource: EventSource {
  private let queue: DispatchQueue
  private let report: @Sendable (CInt) -> Void
  private var tokens: [NotifyToken] = []
  private var reader: (any DispatchSourceRead)?

  init(_ queue: DispatchQueue, _ report: @escaping @Sendable (CInt) -> Void) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken {
    let sharing = tokens.first.map { NotifyToken.Descriptor.shared(with: $0) }
    let token = try NotifyToken(key, descriptor: sharing ?? .new)
    tokens.append(token)
    if reader == nil, let descriptor = token.fileDescriptor { startReading(descriptor) }
    return token
  }

  /// Cancelling the last token closes the descriptor, so nothing may still be waiting for it.
  func end(_ token: NotifyToken) {
    tokens.removeAll { $0 === token }
    guard tokens.isEmpty, let reader else { return token.cancel() }
    reader.setCancelHandler { token.cancel() }
    reader.cancel()
    self.reader = nil
  }

  private func startReading(_ descriptor: CInt) {
    let reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    reader.setEventHandler { [report] in
      var number: Int32 = 0
      // Tokens are written whole, and there is one.
      if read(descriptor, &number, 4) == 4 { report(Int32(bigEndian: number)) }
    }
    reader.activate()
    self.reader = reader
  }
}
