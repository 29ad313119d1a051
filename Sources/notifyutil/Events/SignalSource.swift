// Registers a signal.
import DarwinNotify
import Dispatch
import Glibc

/// The registrations for one signal, whose handler forwards it through a pipe.
///
/// A dispatch source for signals would lose those that arrive before it is armed. Blocking the
/// signal is not enough, because the threads of libdispatch unblock some.
final class SignalSource: EventSource, @unchecked Sendable {
  // Used only on the queue.
  private let number: CInt
  private let reporter: Reporter
  private let report: @Sendable (CInt) -> Void
  private var tokens: [NotifyToken] = []
  private let reader: any DispatchSourceRead

  /// - Throws: ``NotifyError/invalidSignal`` for a signal that cannot be caught.
  init(
    _ number: CInt, _ queue: DispatchQueue, _ reporter: Reporter,
    _ report: @escaping @Sendable (CInt) -> Void
  ) throws(NotifyError) {
    let descriptor = try SignalPipes.open(for: number)
    self.number = number
    self.reporter = reporter
    self.report = report
    reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    reader.setEventHandler { [unowned self] in
      var byte: UInt8 = 0
      if read(descriptor, &byte, 1) == 1 { handle() }
    }
    reader.activate()
  }

  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken {
    let token = try NotifyToken(key, signal: number)
    tokens.appendForChecks(token)
    return token
  }

  func end(_ token: NotifyToken) {
    tokens.cancel(token)
  }

  /// Handles the signal: checking the tokens tells which it is for.
  private func handle() {
    reporter.reportSignal(number)
    for token in tokens where token.check() { report(token.rawValue) }
  }
}
