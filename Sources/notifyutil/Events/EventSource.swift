// The types of registration.

import DarwinNotify
import Dispatch
import Glibc

/// Is called with the number of a registration that has an event, and with what came, if the event
/// has contents.
typealias Report = @Sendable (CInt, DistributedEvent?) -> Void

/// Registers in one way, then reports the number of each registration that has an event.
///
/// It is used, and reports, only on the queue of the registrations (also by `sync`).
protocol EventSource: AnyObject {
  func register(_ key: NotificationName) throws -> any Registered

  /// Ends a registration.
  func end(_ registration: any Registered)
}

final class ThreadSource: EventSource {
  private let queue: DispatchQueue
  private let report: Report

  init(_ queue: DispatchQueue, _ report: @escaping Report) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws -> any Registered {
    // The thread that hears of the post runs the report, so no second one has to be woken.
    try NotifyToken(key, on: .thread) { [queue, report] token in
      queue.sync { report(token.rawValue, nil) }
    }
  }

  func end(_ registration: any Registered) {
    (registration as? NotifyToken)?.cancel()
  }
}

final class PollSource: EventSource, @unchecked Sendable {
  // Used only on the queue.
  private let report: Report
  private var tokens: [NotifyToken] = []
  private let timer: any DispatchSourceTimer

  private static let interval = DispatchTimeInterval.milliseconds(100)

  init(_ queue: DispatchQueue, _ report: @escaping Report) {
    self.report = report
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
    timer.setEventHandler { [unowned self] in
      for token in tokens where token.check() { report(token.rawValue, nil) }
    }
    timer.activate()
  }

  func register(_ key: NotificationName) throws -> any Registered {
    let token = try NotifyToken(key)
    tokens.appendForChecks(token)
    return token
  }

  func end(_ registration: any Registered) {
    tokens.cancel(registration)
  }
}

/// The types of registration that check each of their tokens for events.
extension [NotifyToken] {
  mutating func appendForChecks(_ token: NotifyToken) {
    _ = token.check()  // The first check always returns true.
    append(token)
  }

  mutating func cancel(_ registration: any Registered) {
    for token in self where token === registration { token.cancel() }
    removeAll { $0 === registration }
  }
}

final class FileSource: EventSource {
  private let queue: DispatchQueue
  private let report: Report
  private var tokens: [NotifyToken] = []
  private var reader: (any DispatchSourceRead)?

  init(_ queue: DispatchQueue, _ report: @escaping Report) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws -> any Registered {
    let sharing = tokens.first.map { NotifyToken.Descriptor.shared(with: $0) }
    let token = try NotifyToken(key, descriptor: sharing ?? .new)
    tokens.append(token)
    if reader == nil, let descriptor = token.fileDescriptor { startReading(descriptor) }
    return token
  }

  /// Cancelling the last token closes the descriptor, so nothing may still be waiting for it.
  func end(_ registration: any Registered) {
    guard let token = registration as? NotifyToken else { return }
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
      if read(descriptor, &number, 4) == 4 { report(Int32(bigEndian: number), nil) }
    }
    reader.activate()
    self.reader = reader
  }
}
