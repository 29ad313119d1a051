// Reads the messages of a name one after the other.

internal import Foundation

/// A place in a mailbox.
struct MailboxPlace: Sendable {
  /// The number of the letter that was seen last.
  var number: UInt64

  /// The identity of the mailbox, 0 while it is not known.
  var identity: UInt32

  /// Goes on to behind a letter, perhaps of another mailbox.
  mutating func pass(_ number: UInt64, in identity: UInt32) {
    let letter = Self(number: number, identity: identity)
    self =
      isComparable(to: letter) ? Self(number: max(self.number, number), identity: identity) : letter
  }

  /// Tells whether both are, or may be, places in the same mailbox.
  func isComparable(to other: Self) -> Bool {
    identity == other.identity || identity == 0 || other.identity == 0
  }
}

/// A place in a mailbox, and the way on from there.
struct MessageReader<Value: Codable & Sendable>: Sendable {
  let name: MessageName<Value>
  let mailbox: any Mailbox
  let cursor: (any MailboxCursor)?

  /// Behind what has been read.
  private(set) var place: MailboxPlace

  /// What comes before all that is behind the place: the message that was there already.
  private(set) var initial: Message<Value>?

  /// Whether there is nothing to be read before the next ring, or nothing can be read.
  private(set) var isAtEnd = false

  /// Finds the place where a reader is to begin.
  ///
  /// Who calls it hears the bell already: what is put in from now on is behind the place.
  init(
    _ name: MessageName<Value>, _ mailbox: any Mailbox, from start: Replay
  ) throws(WormholeError) {
    self.name = name
    self.mailbox = mailbox
    cursor = if case .cursor(let name) = start { try mailbox.openCursor(name) } else { nil }
    let identity = try mailbox.identity()
    let number =
      switch start {
      case .none, .last: try mailbox.lastNumber()
      case .all: UInt64(0)
      case .since(let sequence): sequence
      case .cursor: try cursor?.position() ?? 0
      }
    place = MailboxPlace(number: number, identity: identity)
    if start == .last { try begin(withAbsent: false) }
  }

  /// Finds the place where a listener is to begin, and what it is to be told first.
  ///
  /// One that takes the place of another begins where that has stopped. What is stored then is told
  /// first only if the other was told it as well: else it comes in its turn.
  init(
    _ name: MessageName<Value>, _ mailbox: any Mailbox, initial: Initial,
    after predecessor: MailboxPlace? = nil
  ) throws(WormholeError) {
    try self.init(name, mailbox, from: .none)
    if let predecessor, predecessor.isComparable(to: place) { place.number = predecessor.number }
    if initial != .none {
      try begin(withAbsent: initial == .fireAlways, isFresh: predecessor == nil)
    }
  }

  /// Begins with what is stored. For who is fresh, what was put in before that is no news.
  private mutating func begin(
    withAbsent: Bool, isFresh: Bool = true
  ) throws(WormholeError) {
    if let newest = try mailbox.lastMessage() {
      guard isFresh || newest.number <= place.number else { return }
      initial = name.message(newest, isInitial: true)
      place.number = max(place.number, newest.number)
    } else if withAbsent {
      initial = Message(.absent, name: name.rawValue, sequence: place.number, isInitial: true)
    }
  }

  /// Takes the message that was there already.
  mutating func takeInitial() -> Message<Value>? {
    initial.take()
  }

  /// Returns the next messages, none if there are none.
  mutating func read(limit: Int) throws(WormholeError) -> [Message<Value>] {
    var batch = try mailbox.letters(after: place.number, limit: limit)
    let found = MailboxPlace(number: 0, identity: batch.identity)
    if !found.isComparable(to: place) {
      // Somebody has removed the mailbox, and another was made: that counts from 1 again.
      place = found
      batch = try mailbox.letters(after: 0, limit: limit)
    }
    if batch.identity != 0 { place.identity = batch.identity }
    let start = place.number
    let messages = batch.letters.map { message($0) }
    // Letters that lead nowhere would come for ever.
    isAtEnd = !batch.hasMore || place.number == start
    return messages
  }

  /// Returns the next messages, none if there are none. What prevents reading is a message too.
  mutating func next(limit: Int) -> [Message<Value>] {
    do throws(WormholeError) {
      return try read(limit: limit)
    } catch {
      isAtEnd = true
      return [Message(.unreadable(error), name: name.rawValue, sequence: place.number)]
    }
  }

  private mutating func message(_ letter: NumberedLetter) -> Message<Value> {
    let missed = letter.number > place.number ? letter.number - place.number - 1 : 0
    place.number = max(place.number, letter.number)
    return name.message(letter, missed: missed)
  }
}
