// Registers a signal.

import DarwinNotify
import Dispatch
import Glibc

/// The registrations for one signal, whose handler forwards it through a pipe.
///
/// A dispatch source for signals would lose any that arrive before it is armed. Blocking the
/// signal is not enough, because the threads of libdispatch unblock some.
final class SignalSource: EventSource, @unchecked Sendable {
  // Used only on the queue.
  private let number: CInt
  private let reporter: Reporter
  private let report: Report
  private var tokens: [NotifyToken] = []
  private let reader: any DispatchSourceRead

  /// - Throws: ``NotifyError/invalidSignal`` for a signal that cannot be caught.
  init(
    _ number: CInt, _ queue: DispatchQueue, _ reporter: Reporter,
    _ report: @escaping Report
  ) throws {
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

  func register(_ key: NotificationName) throws -> any Registered {
    let token = try NotifyToken(key, signal: number)
    tokens.appendForChecks(token)
    return token
  }

  func end(_ registration: any Registered) {
    tokens.cancel(registration)
  }

  /// Handles the signal: checking the tokens shows which one it is for.
  private func handle() {
    reporter.reportSignal(number)
    for token in tokens where token.check() { report(token.rawValue, nil) }
  }
}

/// A pipe for each caught signal, which gets a byte whenever the signal arrives.
enum SignalPipes {
  private static let signals: ClosedRange<CInt> = 1...64

  /// The write ends, by signal.
  fileprivate nonisolated(unsafe) static let writeEnds: UnsafeMutablePointer<CInt> = {
    // A handler reads an entry only after it has been written, once.
    let ends = UnsafeMutablePointer<CInt>.allocate(capacity: signals.count + 1)
    ends.initialize(repeating: -1, count: signals.count + 1)
    return ends
  }()

  /// Starts catching a signal. Returns the read end of its pipe.
  static func open(for number: CInt) throws -> CInt {
    var ends: [CInt] = [-1, -1]
    guard signals.contains(number) else { throw NotifyError.invalidSignal }
    guard pipe(&ends) == 0 else { throw NotifyError.failed }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
    writeEnds[Int(number)] = ends[1]
    guard catchSignal(number) else {
      writeEnds[Int(number)] = -1
      ends.forEach { close($0) }
      throw NotifyError.invalidSignal
    }
    return ends[0]
  }

  /// Returns whether the signal can be caught.
  private static func catchSignal(_ number: CInt) -> Bool {
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { number in
      let error = errno
      var byte: UInt8 = 1
      _ = write(SignalPipes.writeEnds[Int(number)], &byte, 1)
      errno = error
    }
    return sigaction(number, &action, nil) == 0
  }
}
