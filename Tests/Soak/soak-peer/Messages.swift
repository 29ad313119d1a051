// Passes messages to names that keep one or many, and checks what arrives.

internal import DarwinNotify
internal import Dispatch
internal import FoundationEssentials
internal import SoakBoard
internal import Wormhole

private let messageNames: [MessageName<Data>] = [
  "newest", MessageName("history", keep: .last(2000)),
]

/// What one worker passes, for a function of C.
nonisolated(unsafe) private var passed: Exchange?
// Only the main thread uses it.

func exchange(_ kind: String, _ name: String) throws {
  let exchange = try Exchange(name)
  switch kind {
  case "pass":
    passed = exchange
    soak_act { _ in passed?.pass() }
  case "listen": try exchange.listen(starting: .last)
  default: try exchange.listen(starting: .cursor("soak"))
  }
}

/// A name that one worker passes messages to or listens for.
private struct Exchange {
  let hole: Wormhole
  let name: MessageName<Data>
  let index: UInt32

  init(_ text: String) throws {
    guard let index = messageNames.firstIndex(where: { $0.rawValue == text }) else {
      fatalError("no name is called \(text)")
    }
    hole = try Wormhole(group: AppGroup("org.example.soak"))
    name = messageNames[index]
    self.index = UInt32(index)
  }

  func pass() {
    unlessDiskIsFull(since: soak_count_disk_changes()) {
      let value = makeValue()
      let number = try hole.blocking.pass(value, to: name)
      note("passed", number, value)
      soak_set_last(index, number)
    }
  }

  func listen(starting start: Wormhole.Start) throws {
    let hasBegun = Flag()
    let queue = DispatchQueue(label: "soak")
    nonisolated(unsafe) var changes = soak_count_disk_changes()
    // Used by calls on the queue, one after the other.
    kept.append(
      try hole.listen(name, starting: start, on: .queue(queue)) { message in
        judge(message, isFirst: !hasBegun.raise(), changes)
        changes = soak_count_disk_changes()
      })
  }

  /// Numbers go up, and each gap between two of them is reported.
  private func judge(_ message: Wormhole.Message<Data>, isFirst: Bool, _ changes: UInt64) {
    let (number, last) = (message.sequence, soak_get_last(index))
    switch message.content {
    case .value(let value):
      note("gets", number, value, missed: message.missed)
      if !isWhole(value) { report("message \(number) is torn") }
    case .unreadable(let error): return unlessDiskIsFull(since: changes) { throw error }
    default: note("gets", number, Data(), missed: message.missed)
    }
    // The one that its predecessor was handling comes again, or is among those missed.
    let isAgain = isFirst && number == last + message.missed
    if last > 0 && !isAgain && number != last + 1 + message.missed {
      report("\(number) follows \(last), \(message.missed) are missed")
    }
    soak_set_last(index, number)
  }

  private func note(_ what: String, _ number: UInt64, _ value: Data, missed: UInt64 = 0) {
    guard soak_has_history() else { return }
    soak_note(
      what,
      "\"name\":\"\(name.rawValue)\",\"number\":\(number),\"missed\":\(missed),"
        + "\"value\":\"\(value.count) times \(value.first ?? 0)\"")
  }

  private func report(_ text: String) {
    soak_report("\(name.rawValue): \(text)")
  }

  /// Does what may fail if the disk was full at any time since it had changed that often.
  private func unlessDiskIsFull(since changes: UInt64, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      if changes % 2 == 0 && changes == soak_count_disk_changes() { report("\(error)") }
    }
  }
}

/// Makes a value, now and then a large one.
private func makeValue() -> Data {
  let count = Int.random(in: 0..<20) > 0 ? Int.random(in: 0...500) : 300_000
  return Data(repeating: UInt8.random(in: 1...255), count: count) + [0]
}

/// A value is whole if all bytes but the last are the same.
private func isWhole(_ value: Data) -> Bool {
  value.last == 0 && value.dropLast().allSatisfy { $0 == value.first }
}
