// Receives, in a process of its own.

import DarwinNotify
import Dispatch
import Foundation
import Wormhole
import WormholeBaseline

/// What a process of the benchmark does other than to measure.
///
/// Each reports a number when it is ready, then the time at which it has seen each message.
enum Role: String {
  /// By hand: NAME, PATH or nothing, CAPACITY, whether it holds what it reads.
  case baseline
  /// A listener that has no message: NAME.
  case notification
  /// A listener of bytes: NAME, DELIVERY, whether it holds them.
  case bytes
  /// A listener of readings: NAME, DELIVERY.
  case readings
  /// A listener of a log, that reports the messages which begin with a 1: NAME.
  case log

  /// Runs a role until somebody kills it.
  static func run(_ arguments: [String]) throws {
    guard let role = arguments.first.flatMap(Role.init) else { preconditionFailure("no role") }
    let kept = try role.start(Array(arguments.dropFirst()))
    withExtendedLifetime(kept) { while true { pause() } }
  }

  private func start(_ arguments: [String]) throws -> [Any] {
    let name = arguments[0]
    switch self {
    case .baseline: Self.receiveByHand(arguments)
    case .notification:
      return [
        try ready(
          DarwinNotificationCenter.shared.observe(NotificationName(name), on: .direct) { _ in
            baseline_report(baseline_now_ns())
          })
      ]
    case .bytes:
      let holds = arguments[2] == "holds"
      return try listen(to: MessageName<Data>(name), on: Self.delivery(arguments[1])) { data in
        touch(data)
        baseline_report(baseline_now_ns())
        if holds { baseline_await_line() }
      }
    case .readings:
      return try listen(to: MessageName<Reading>(name), on: Self.delivery(arguments[1])) { _ in
        baseline_report(baseline_now_ns())
      }
    case .log:
      let name = MessageName<Data>(name, transit: .log)
      return try listen(to: name, on: .direct) { data in
        if data.first == 1 { baseline_report(baseline_now_ns()) }
      }
    }
  }

  private func listen<Value>(
    to name: MessageName<Value>, on delivery: Delivery,
    _ handler: @escaping @Sendable (Value) -> Void
  ) throws -> [Any] {
    let wormhole = try Place.openWormhole()
    return [
      wormhole,
      try ready(
        wormhole.listen(name, on: delivery) { message in
          guard let value = message.value else { preconditionFailure("\(message)") }
          handler(value)
        }),
    ]
  }

  private func ready(_ registration: Any) -> Any {
    baseline_report(0)
    return registration
  }

  private static func delivery(_ text: String) -> Delivery {
    text == "direct" ? .direct : .queue(DispatchQueue(label: "figures"))
  }

  private static func receiveByHand(_ arguments: [String]) -> Never {
    guard let capacity = Int(arguments[2]) else { preconditionFailure("no number") }
    var reader = baseline_reader(
      name: strdup(arguments[0]), path: arguments[1].isEmpty ? nil : strdup(arguments[1]),
      capacity: capacity, holds: arguments[3] == "holds")
    baseline_receive(baseline_bus_open(), &reader)
  }
}

/// Looks at every byte.
private func touch(_ data: Data) {
  let sum = data.withUnsafeBytes { baseline_touch($0.baseAddress, $0.count) }
  // A sum that does not occur, so that no compiler leaves it out.
  if sum == .max { baseline_report(sum) }
}
