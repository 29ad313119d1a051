// Reads the messages of a name one after the other.

internal import Foundation

/// A place in a mailbox, and the way on from there.
struct MessageReader<Value: Codable & Sendable>: Sendable {
  let name: MessageName<Value>
  let mailbox: any Mailbox
  let cursor: (any MailboxCursor)?

  /// The number of the message that was seen last.
  private(set) var position: UInt64

  /// Whether there is nothing to be read before the next ring, or nothing can be read.
  private(set) var isAtEnd = false

  /// What comes before all that is behind the position: the message that was there already.
  private(set) var initial: Message<Value>?

  /// Finds the place where a reader is to begin.
  ///
  /// Who calls it hears the bell already: what is put in from now on is behind the place.
  init(
    _ name: MessageName<Value>, _ mailbox: any Mailbox, from start: Replay
  ) throws(WormholeError) {
    self.name = name
    self.mailbox = mailbox
    cursor = if case .cursor(let name) = start { try mailbox.openCursor(name) } else { nil }
    switch start {
    case .none: position = try mailbox.lastNumber()
    case .all: position = 0
    case .since(let sequence): position = sequence
    case .cursor: position = try cursor?.position() ?? 0
    case .last:
      position = try mailbox.lastNumber()
      try begin(withAbsent: false)
    }
  }

  /// Finds the place where a listener is to begin, and what it is to be told first.
  init(
    _ name: MessageName<Value>, _ mailbox: any Mailbox, initial: Initial
  ) throws(WormholeError) {
    try self.init(name, mailbox, from: .none)
    if initial != .none { try begin(withAbsent: initial == .fireAlways) }
  }

  /// Begins with what is stored. What was put in before that, but for messages, is no news.
  private mutating func begin(withAbsent: Bool) throws(WormholeError) {
    if let newest = try mailbox.lastMessage() {
      initial = name.message(newest, isInitial: true)
      position = max(position, newest.number)
    } else if withAbsent {
      initial = Message(.absent, name: name.rawValue, sequence: position, isInitial: true)
    }
  }

  /// Goes on where another reader of the name has stopped, but not back behind what comes first.
  mutating func resume(after number: UInt64) {
    position =
      if case .some(let first) = initial, first.value != nil || first.error != nil {
        max(first.sequence, number)
      } else {
        number
      }
  }

  /// Takes the message that was there already.
  mutating func takeInitial() -> Message<Value>? {
    initial.take()
  }

  /// Returns the next messages, none if there are none. What prevents reading is a message too.
  mutating func next(limit: Int) -> [Message<Value>] {
    do throws(WormholeError) {
      var batch = try mailbox.letters(after: position, limit: limit)
      if batch.letters.isEmpty, try mailbox.lastNumber() < position {
        // Somebody has removed the mailbox: it counts from 1 again.
        position = 0
        batch = try mailbox.letters(after: 0, limit: limit)
      }
      isAtEnd = !batch.hasMore
      return batch.letters.map { message($0) }
    } catch {
      isAtEnd = true
      return [Message(.unreadable(error), name: name.rawValue, sequence: position)]
    }
  }

  private mutating func message(_ letter: NumberedLetter) -> Message<Value> {
    let missed = letter.number > position ? letter.number - position - 1 : 0
    position = max(position, letter.number)
    return name.message(letter, missed: missed)
  }
}
