// Holds the cursor of a reader.

/// An open cursor, which a reader passes on to its successor. It becomes available to others when
/// the last of them has ended.
final class ReaderCursor: Sendable {
  let name: String
  private let cursor: any Wormhole.MailboxCursor

  init(_ name: String, of mailbox: any Wormhole.Mailbox) throws(WormholeError) {
    self.name = name
    cursor = try mailbox.openCursor(name)
  }

  func position() throws(WormholeError) -> UInt64 {
    try cursor.position()
  }

  /// Stores that the messages up to a number have been handled.
  func advance(to number: UInt64) throws(WormholeError) {
    do throws(WormholeError) {
      try cursor.advance(to: number)
    } catch {
      throw .cursorNotStored(name, reason: String(describing: error))
    }
  }

  /// The cursor for a message, which may outlive the reader and must not keep it from others.
  struct Link: Sendable {
    private let name: String
    private weak let cursor: ReaderCursor?

    init(_ cursor: ReaderCursor) {
      name = cursor.name
      self.cursor = cursor
    }

    func advance(to number: UInt64) throws(WormholeError) {
      guard let cursor else {
        throw .cursorNotStored(name, reason: "the reader of the message has ended")
      }
      try cursor.advance(to: number)
    }
  }
}
