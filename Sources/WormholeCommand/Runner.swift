// Runs a command on the stores of a group.

import DarwinNotify
import Dispatch
import FoundationEssentials
import Glibc
import Wormhole

/// A command with its operands.
struct Runner {
  let arguments: Arguments
  private let output: Output
  private let group: AppGroup

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    output = Output(isJSON: arguments.isJSON, isText: arguments.isText)
    // Passing and listening create a group; reading a mistyped name must not.
    if ![.pass, .listen].contains(arguments.command), arguments.operands.count < 3,
      !AppGroup.exists(arguments.group)
    {
      Output.complain("there is no group \(arguments.group)")
      exit(Status.absent)
    }
    group = try AppGroup(arguments.group)
  }

  func run() throws {
    switch arguments.command {
    case .get: try get()
    case .pass: try pass()
    case .listen: try listen()
    case .history: try history()
    case .clear: try store.clear(name)
    case .names: try names()
    case .defaults: try defaults()
    case .backup: try group.backUp(to: arguments.operands[1])
    }
  }

  private var name: String { arguments.operands[1] }

  private var store: MessageStore {
    get throws {
      guard arguments.directory != AppGroup.defaultsStore, !arguments.directory.isEmpty else {
        throw Misuse(reason: "the directory \(arguments.directory) has no messages")
      }
      return group.store(named: arguments.directory)
    }
  }

  // MARK: Messages

  private func get() throws {
    guard let record = try store.newest(of: name) else { exit(Status.absent) }
    try show(record)
  }

  private func show(_ record: StoredRecord) throws {
    switch record.content {
    case .value(let value) where !arguments.isJSON: output.show(value)
    case .unreadable(let error) where !arguments.isJSON: throw error
    default: output.show(record)
    }
  }

  private func pass() throws {
    let value = try output.value(arguments.operands.dropFirst(2).first, type: arguments.type)
    let number = try store.pass(RecordDraft(.value(value), keep: arguments.keep), to: name)
    if arguments.isJSON { Output.line("{\"number\":\(number)}") }
  }

  private func history() throws {
    for record in try store.history(of: name, after: arguments.since ?? 0) {
      output.show(record)
    }
  }

  /// Prints messages passed from now on, or after a number, until the program is ended.
  private func listen() throws {
    let store = try store
    let changed = DispatchSemaphore(value: 0)
    let observation = try store.observe(name) { changed.signal() }
    let start = try store.position(of: name)
    var position = StoredPosition(
      number: min(arguments.since ?? start.last, start.last), identity: start.identity)
    var rest = arguments.count ?? .max
    while rest > 0 {
      let batch = try store.records(of: name, following: &position).batch
      for record in batch.records where rest > 0 {
        output.show(record)
        position.number = record.number
        if record.isMessage { rest -= 1 }
      }
      if !batch.hasMore, rest > 0 { changed.wait() }
    }
    observation.cancel()
  }

  private func names() throws {
    let names = try store.names()
    if !arguments.isJSON, !names.isEmpty { Output.line("NUMBER      KEEPS       NAME") }
    for found in names {
      if arguments.isJSON {
        Output.line(
          "{\(output.member("name", found.name)),\"number\":\(found.last),\"keep\":\(found.keep)}")
      } else {
        Output.line(
          "\(padded(found.last)) \(padded(UInt64(found.keep))) \(output.column(found.name))")
      }
    }
  }

  private func padded(_ number: UInt64) -> String {
    let digits = String(number)
    return digits + String(repeating: " ", count: max(0, 11 - digits.count))
  }

  // MARK: Defaults

  private func defaults() throws {
    let store = group.store(named: AppGroup.defaultsStore)
    switch arguments.operands.count {
    case 1: try listDefaults(of: store)
    case 2 where arguments.removes: try store.set(nil, of: name)
    case 2:
      guard let record = try store.newest(of: name) else { exit(Status.absent) }
      try show(record)
    default: try store.set(try output.value(arguments.operands[2]), of: name)
    }
  }

  private func listDefaults(of store: MessageStore) throws {
    for found in try store.names() where found.hasMessage {
      guard case .value(let value) = try store.newest(of: found.name)?.content else { continue }
      Output.line(
        arguments.isJSON
          ? "{\(output.member("key", found.name)),\"value\":\(output.json(value))}"
          : "\(output.column(found.name)) \(output.json(value))")
    }
  }
}
