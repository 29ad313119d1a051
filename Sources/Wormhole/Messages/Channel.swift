// Ties the mailbox of a name to its bell.

internal import DarwinNotify
internal import Foundation

/// What a wormhole knows of one name: where its letters are kept, and what rings for a new one.
struct Channel: Sendable {
  let mailbox: any Mailbox
  let bell: NotificationName
  let center: DarwinNotificationCenter

  /// Puts a letter in, then rings. Returns the number of the letter.
  func send(_ content: Letter.Content) throws(WormholeError) -> UInt64 {
    let number = try mailbox.append(Letter(content))
    try center.ring(bell)
    return number
  }
}

/// What tells the channels of a wormhole apart.
struct ChannelKey: Hashable {
  private let name: ExactString
  private let transit: String

  init(_ name: String, _ transit: any MessageTransit) {
    self.name = ExactString(name)
    self.transit = transit.identifier
  }
}
