// Ties the mailbox of a name to its change notification.

internal import DarwinNotify

/// The mailbox of one name and the notification of its changes.
struct Channel: Sendable {
  let mailbox: any Wormhole.Mailbox
  let changeName: NotificationName
  let center: DarwinNotificationCenter

  /// Appends a record, then posts the change notification. Returns the number of the record.
  func send(_ content: Wormhole.Content<Wormhole.Payload>) throws(WormholeError) -> UInt64 {
    let number = try mailbox.append(Wormhole.Record(content))
    try center.notify(changeName)
    return number
  }
}

/// Distinguishes the channels of a wormhole.
struct ChannelKey: Hashable {
  let name: ExactString
  private let transit: String

  init(_ name: String, _ transit: any MessageTransit) {
    self.name = ExactString(name)
    self.transit = transit.identifier
  }
}
