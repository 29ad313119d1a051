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
    try ring()
    return number
  }

  /// Tells all who listen to look. Without a bus it is told those in this process now, the others
  /// once there is one.
  func ring() throws(WormholeError) {
    do throws(DarwinNotifyError) {
      try center.post(bell)
    } catch .notConnected {
    } catch {
      throw .notification(error)
    }
  }

  /// Calls a handler, which must not block for long, after each ring.
  func observe(
    _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> Observation {
    do throws(DarwinNotifyError) {
      return try center.observe(bell, on: .direct) { _ in handler() }
    } catch {
      throw .notification(error)
    }
  }

  /// Returns the rings as a sequence.
  func rings() throws(WormholeError) -> Notifications {
    do throws(DarwinNotifyError) {
      return try center.notifications(named: bell)
    } catch {
      throw .notification(error)
    }
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
