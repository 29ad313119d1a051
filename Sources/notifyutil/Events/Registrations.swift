// Keeps the registrations of the run.

import DarwinNotify
import Dispatch
import Glibc

/// The registrations, each until it has reported as many events as requested.
final class Registrations: @unchecked Sendable {
  // Everything except the queue is accessed only on the queue.
  private let queue = DispatchQueue(label: "notifyutil.registrations")
  private let reporter: Reporter
  private let failures: Failures
  private var sources: [Kind: any EventSource] = [:]
  private var entries: [CInt: Entry] = [:]
  private var isKeptRunning = false
  private var isComplete = false
  private var isWaitingForBus = false
  private var isEnding = false

  private struct Entry {
    let registration: any Registered
    let kind: Kind
    var count: Int?
  }

  init(settings: Settings, failures: Failures) {
    reporter = Reporter(settings: settings, failures: failures)
    self.failures = failures
  }

  /// Registers for a key: for a number of events, or forever. No event is handled meanwhile.
  func add(_ key: NotificationName, _ kind: Kind, count: Int?) throws {
    try queue.sync {
      let source = try source(of: kind)
      let registration = try source.register(key)
      entries[registration.rawValue] = Entry(
        registration: registration, kind: kind, count: count)
    }
  }

  /// Keeps the program running until it is killed.
  func keepRunning() {
    queue.sync { isKeptRunning = true }
  }

  /// Called after the last command: the program ends once nothing is registered.
  func exitWhenDone() {
    queue.sync {
      isComplete = true
      exitIfDone()
    }
  }

  /// Ends the program after a timeout, whatever it is waiting for. A running `--exec` command is
  /// allowed to finish first.
  func end(after seconds: Double) {
    queue.asyncAfter(deadline: .now() + seconds) { [self] in
      if isWaitingForBus {
        failures.reportLateBus()
      } else if isComplete, entries.values.allSatisfy({ $0.count == nil }) {
        return end(failures.status)  // Only the timeout can end these.
      } else {
        Output.complain("notifyutil: --timeout: timed out")
      }
      end(.timeout)
    }
  }

  /// Returns once there is a bus.
  func waitForBus() {
    queue.sync { isWaitingForBus = true }
    BusWait.run()
    queue.sync { isWaitingForBus = false }
  }

  private func source(of kind: Kind) throws -> any EventSource {
    if let source = sources[kind] { return source }
    let source = try makeSource(of: kind)
    sources[kind] = source
    return source
  }

  private func makeSource(of kind: Kind) throws -> any EventSource {
    let report: Report = { [unowned self] number, event in handle(number, event) }
    switch kind {
    case .dispatch: return ThreadSource(queue, report)
    case .distributed: return DistributedSource(queue, report)
    case .file: return FileSource(queue, report)
    case .check, .plain: return PollSource(queue, report)
    case .signal(let number): return try SignalSource(number, queue, reporter, report)
    }
  }

  /// Reports an event of a registration.
  private func handle(_ number: CInt, _ event: DistributedEvent?) {
    guard !isEnding, let entry = entries[number] else { return }
    reporter.report(entry.registration, entry.kind, event)
    guard let count = entry.count else { return }
    entries[number]?.count = count - 1
    if count == 1 {
      entries[number] = nil
      sources[entry.kind]?.end(entry.registration)
      exitIfDone()
    }
  }

  private func exitIfDone() {
    if isComplete, !isKeptRunning, entries.isEmpty { end(failures.status) }
  }

  /// Ends the program on another thread, because `exit` waits for running handlers, which may wait
  /// for the queue.
  private func end(_ status: ExitStatus) {
    guard !isEnding else { return }
    isEnding = true
    DispatchQueue.global().async { status.end() }
  }
}

enum Ready {
  static let standardError = STDERR_FILENO

  static func isOpen(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFD) >= 0
  }

  /// Writes the line. A descriptor beyond the standard ones exists only for that, so it is closed
  /// and its reader sees the end. It does not matter if nobody reads it.
  static func tell(_ descriptor: CInt) {
    Output.tell("ready", to: descriptor)
    if descriptor > STDERR_FILENO { close(descriptor) }
  }
}
