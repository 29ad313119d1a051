// Tells what went wrong, and remembers it for the exit status.
import DarwinNotify
import Synchronization

/// The failures of the run.
final class Failures: Sendable {
  private let bus: BusChoice
  private let first = Atomic<CInt>(ExitStatus.success.rawValue)
  private let isBusExplained = Atomic<Bool>(false)

  init(bus: BusChoice) {
    self.bus = bus
  }

  /// How the run ends if nothing else happens: the first failure decides.
  var status: ExitStatus { ExitStatus(rawValue: first.load(ordering: .relaxed)) ?? .failure }

  /// Says that a command failed.
  func report(_ command: Command, _ error: NotifyError) {
    switch error {
    case .serverNotFound: reportMissingBus(command)
    case .invalidName: report("\(command)", "the name is not 1 to 511 bytes without a NUL")
    case .invalidSignal: report("\(command)", "this signal cannot be caught")
    default: report("\(command)", "\(error)")
    }
  }

  /// Says that a command of this tool's own failed.
  func report(_ command: Command, _ error: DarwinNotifyError) {
    switch error {
    case .notConnected: reportMissingBus(command)
    case .notAuthorized: report("\(command)", "there is no table of names that may be read")
    default: report("\(command)", "\(error)")
    }
  }

  /// Says that something failed, which is not the fault of the bus.
  func report(_ what: String, _ reason: String) {
    note(.failure)
    Output.complain("notifyutil: \(what): \(reason)")
  }

  /// Says that a command found no bus, and once which was tried.
  private func reportMissingBus(_ command: Command) {
    note(.noBus)
    Output.complain("notifyutil: \(command): there is no message bus")
    explainBus()
  }

  private func explainBus() {
    guard !isBusExplained.exchange(true, ordering: .relaxed) else { return }
    for line in bus.diagnosis { Output.complain("notifyutil: \(line)") }
  }

  /// Says that no bus has come in time.
  func reportLateBus() {
    Output.complain("notifyutil: --wait-for-bus: the time is up")
    explainBus()
  }

  private func note(_ status: ExitStatus) {
    _ = first.compareExchange(
      expected: ExitStatus.success.rawValue, desired: status.rawValue, ordering: .relaxed)
  }
}
