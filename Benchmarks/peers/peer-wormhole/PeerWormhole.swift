// Messages of Wormhole: a post passes a value, an observer looks at the whole of it.
//
//     peer-wormhole newest|log|durable DELIVERY N_BYTES|reading COMMAND...
//     peer-wormhole defaults - - COMMAND...
//
// DELIVERY is inline or queue. A reading is a Codable struct, whose JSON text has about 100 bytes.
// A post of `defaults` changes a number there in a transaction; nobody observes that.

internal import BenchmarkSupport
internal import DarwinNotify
internal import Dispatch
internal import Foundation
internal import Wormhole

/// A way to post and to observe.
protocol Subject {
  mutating func prepare(_ name: UnsafePointer<CChar>) throws
  func post(_ name: UnsafePointer<CChar>) throws
  func observe(
    _ name: UnsafePointer<CChar>, _ heard: @escaping @Sendable () -> Void
  ) throws -> NotificationObservation?
}

struct Reading: Codable, Sendable {
  var sensor = "living-room/temperature"
  var value = 21.5
  var unit = "degrees Celsius"
  var count = 1
  var isCalibrated = true
}

/// Messages that all carry the same value.
struct Messages<Value: Codable & Sendable>: Subject {
  let wormhole: Wormhole
  let value: Value
  let keep: Wormhole.Keep
  let isDurable: Bool
  let delivery: Delivery

  /// By the address of their text.
  var names: [UnsafePointer<CChar>: MessageName<Value>] = [:]

  /// More rows than the pages after which SQLite uses its write-ahead log from the start again.
  private static var rowsOfFullLog: Int { 1200 }

  mutating func prepare(_ text: UnsafePointer<CChar>) throws {
    names[text] = name(text)
    for _ in 0..<Self.rowsOfFullLog {
      try wormhole.blocking.pass(value, to: name(text, isDurable: false))
    }
  }

  func post(_ text: UnsafePointer<CChar>) throws {
    try wormhole.blocking.pass(value, to: names[text] ?? name(text))
  }

  func observe(
    _ text: UnsafePointer<CChar>, _ heard: @escaping @Sendable () -> Void
  ) throws -> NotificationObservation? {
    let last = Last<Value>()
    return try wormhole.listen(name(text), starting: .new, on: delivery) { message in
      guard let value = message.value else { preconditionFailure("\(message)") }
      if let data = value as? Data {
        data.withUnsafeBytes { bench_touch($0.baseAddress, $0.count) }
      }
      last.value = value
      heard()
    }
  }

  private func name(
    _ text: UnsafePointer<CChar>, isDurable: Bool? = nil
  ) -> MessageName<Value> {
    MessageName(String(cString: text), keep: keep, durable: isDurable ?? self.isDurable)
  }
}

/// Keeps the last message until the next, so that the memory it takes can be seen.
final class Last<Value: Sendable>: @unchecked Sendable {
  // Used only by one listener, whose calls do not overlap.
  var value: Value?
}

struct Changes: Subject {
  let defaults: SharedDefaults
  let key = DefaultsKey("count", default: 0)

  func prepare(_ name: UnsafePointer<CChar>) throws {}

  func post(_ name: UnsafePointer<CChar>) throws {
    try defaults.blocking.update(key) { $0 += 1 }
  }

  func observe(
    _ name: UnsafePointer<CChar>, _ heard: @escaping @Sendable () -> Void
  ) throws -> NotificationObservation? { nil }
}

func makeSubject(_ arguments: [String]) throws -> any Subject {
  let wormhole = try Wormhole(group: AppGroup("org.example.bench"))
  let (kind, delivery, value) = (arguments[0], arguments[1], arguments[2])
  if kind == "defaults" { return Changes(defaults: wormhole.group.defaults) }
  func messages<Value: Codable & Sendable>(_ value: Value) -> any Subject {
    Messages(
      wormhole: wormhole, value: value,
      keep: kind == "newest" ? .newest : .last(100_000), isDurable: kind == "durable",
      delivery: delivery == "inline" ? .inline : .queue(DispatchQueue(label: "bench")))
  }
  guard let count = Int(value) else { return messages(Reading()) }
  return messages(Data(repeating: 1, count: count))
}

/// What the commands use, one after the other, on the main thread.
nonisolated(unsafe) var subject: (any Subject)?
// Set before they run.

/// Keeps the observations until the process ends; used only by the main thread.
nonisolated(unsafe) var observations: [NotificationObservation] = []
// The commands register one after the other, before they wait.

/// Runs what may throw; returns a number to C.
func guarded(_ work: () throws -> Void) -> Int32 {
  do {
    try work()
    return 0
  } catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    return -1
  }
}

func observe(
  _ name: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let name, let function else { return -1 }
  nonisolated(unsafe) let context = context
  // C allows it on any thread.
  return guarded {
    guard let observation = try subject?.observe(name, { function(context, 1) }) else { return }
    observations.append(observation)
  }
}

@main
enum PeerWormhole {
  static func main() {
    guard CommandLine.arguments.count > 4 else { exit(2) }
    var peer = bench_peer()
    peer.open = {
      guarded { subject = try makeSubject(Array(CommandLine.arguments[1...3])) }
    }
    peer.observe = observe
    peer.prepare = { name in guarded { try name.map { try subject?.prepare($0) } } }
    peer.post = { name in guarded { try name.map { try subject?.post($0) } } }
    exit(bench_main(CommandLine.argc - 3, CommandLine.unsafeArgv + 3, &peer))
  }
}
