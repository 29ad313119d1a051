// The type of registration for notifications of the distributed center.

import DarwinNotify
import Dispatch

/// A registration with a number and a name.
protocol Registered: AnyObject, Sendable {
  var rawValue: CInt { get }
  var name: NotificationName { get }
}

extension NotifyToken: Registered {}

/// A name that the distributed center reports.
final class DistributedRegistration: Registered {
  let rawValue: CInt
  let name: NotificationName
  fileprivate let observation: NotificationObservation

  fileprivate init(_ number: CInt, _ name: NotificationName, _ observation: NotificationObservation)
  {
    rawValue = number
    self.name = name
    self.observation = observation
  }
}

final class DistributedSource: EventSource {
  private let queue: DispatchQueue
  private let report: Report

  /// Below 0, where there are no tokens.
  private var lastNumber: CInt = 0

  init(_ queue: DispatchQueue, _ report: @escaping Report) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws -> any Registered {
    lastNumber -= 1
    let (number, report) = (lastNumber, report)
    do throws(DarwinNotifyError) {
      let observation = try DistributedCenter.shared.observe(
        DistributedFilter(.name(key.rawValue)), on: .queue(queue)
      ) { event in report(number, event) }
      guard DistributedCenter.shared.isOnBus else { throw DarwinNotifyError.notConnected }
      return DistributedRegistration(number, key, observation)
    } catch .notConnected {
      throw NotifyError.serverNotFound
    } catch .invalidArgument, .nameTooLong {
      throw NotifyError.invalidName
    } catch {
      throw NotifyError.failed
    }
  }

  func end(_ registration: any Registered) {
    (registration as? DistributedRegistration)?.observation.cancel()
  }
}
