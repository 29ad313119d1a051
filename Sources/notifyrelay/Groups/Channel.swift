// Accesses the records of one message name.

import DarwinNotify
import FoundationEssentials
import Wormhole

/// A message name of a group, with whom it is shared by this machine.
final class Channel {
  let address: MessageAddress
  /// Whether all records are kept, not only the newest.
  let isLog: Bool
  let mailbox: any Wormhole.Mailbox

  private let group: AppGroup
  private let changeName: NotificationName
  private let observation: NotificationObservation

  /// Begins to observe a name. The function is called when something was passed.
  init(
    _ address: MessageAddress, isLog: Bool, of hole: Wormhole,
    noteChange: @escaping @Sendable () -> Void
  ) throws {
    self.address = address
    self.isLog = isLog
    group = hole.group
    changeName = group.changeName(LocalGroup.directoryName, address.name)
    // How many records are kept is for the programs to decide, so a log here has no limits. A
    // coordinated mailbox lets us look and store in one step.
    let transit: any MessageTransit = isLog ? .log(count: .max) : .coordinatedFile
    mailbox = try transit.openMailbox(for: address.name, in: hole.directory)
    observation = try group.center.observe(changeName, on: .thread) { _ in noteChange() }
  }

  /// The newest value or clearing, `nil` if there is none that can be read.
  func newest() throws -> Wormhole.NumberedRecord? {
    try mailbox.records(after: 0, limit: 8).records.last {
      switch $0.record.content {
      case .value, .cleared: true
      case .ping, .absent, .unreadable: false
      }
    }
  }

  /// Appends a record of another machine. Returns its number.
  func append(_ record: Wormhole.Record) throws -> UInt64 {
    let number = try mailbox.append(record)
    announce()
    return number
  }

  /// Stores a record unless the newest one is later. Returns whether it was stored.
  func store(_ record: Wormhole.Record, ifLaterThan isLater: (Wormhole.Record?) -> Bool) throws
    -> Bool
  {
    // A clearing is no message. Nobody can store one while it is looked for.
    let number = try mailbox.update { message in
      isLater(try (message ?? newest())?.record) ? record : nil
    }.get()
    guard number != nil else { return false }
    announce()
    return true
  }

  private func announce() {
    // Without a bus it reaches the processes that share the table.
    try? group.center.post(changeName)
  }
}
