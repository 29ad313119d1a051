// Reports failures.

import DarwinNotify
import Glibc
import Synchronization

/// The failures of the run.
final class Failures: Sendable {
  let bus: BusChoice
  private let first = Atomic<CInt>(ExitStatus.success.rawValue)
  private let isBusExplained = Atomic<Bool>(false)

  init(bus: BusChoice) {
    self.bus = bus
  }

  /// The exit status unless something else ends the program: the first failure decides.
  var status: ExitStatus { ExitStatus(rawValue: first.load(ordering: .relaxed)) ?? .failure }

  /// Reports that a command failed.
  func report(_ command: Command, _ error: any Error) {
    switch error {
    case let error as NotifyError: report(command, error)
    case let error as DarwinNotifyError: report(command, error)
    default: report("\(command)", "\(error)")
    }
  }

  private func report(_ command: Command, _ error: NotifyError) {
    switch error {
    case .serverNotFound: reportMissingBus(command)
    case .invalidName: report("\(command)", "the name must be 1 to 511 bytes without a NUL")
    case .invalidSignal: report("\(command)", "this signal cannot be caught")
    default: report("\(command)", "\(error)")
    }
  }

  /// Reports that one of this tool's own commands failed.
  private func report(_ command: Command, _ error: DarwinNotifyError) {
    switch error {
    case .notConnected: reportMissingBus(command)
    case .notAuthorized:
      report("\(command)", "the table of names cannot be read")
      Output.complain(
        "notifyutil: the table needs a writable private directory: next to the socket of "
          + "the bus, in XDG_RUNTIME_DIR, in /run/user/\(geteuid()) or in /dev/shm")
    default: report("\(command)", "\(error)")
    }
  }

  /// Reports a failure that is unrelated to the bus.
  func report(_ what: String, _ reason: String) {
    note(.failure)
    Output.complain("notifyutil: \(what): \(reason)")
  }

  /// Reports that a command found no bus, and, the first time, which bus was tried.
  private func reportMissingBus(_ command: Command) {
    note(.noBus)
    Output.complain("notifyutil: \(command): no message bus found")
    explainBus()
  }

  private func explainBus() {
    guard !isBusExplained.exchange(true, ordering: .relaxed) else { return }
    for line in bus.diagnosis { Output.complain("notifyutil: \(line)") }
  }

  /// Reports that no bus appeared in time.
  func reportLateBus() {
    Output.complain("notifyutil: --wait-for-bus: timed out")
    explainBus()
  }

  /// Makes it the status of the run, unless there is one already.
  func note(_ status: ExitStatus) {
    _ = first.compareExchange(
      expected: ExitStatus.success.rawValue, desired: status.rawValue, ordering: .relaxed)
  }
}

/// How the program ends.
enum ExitStatus: CInt {
  case success = 0
  /// The command line is wrong and nothing was run, or the output cannot be written.
  case mistake = 1
  /// A command failed, or one run by `--exec`.
  case failure = 2
  /// There is no bus.
  case noBus = 3
  /// `--timeout` expired; the same status as timeout(1).
  case timeout = 124

  /// The doctor found something.
  static var found: Self { .mistake }

  func end() -> Never {
    exit(rawValue)
  }
}
