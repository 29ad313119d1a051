// Reads the messages of a name one after the other.

internal import Foundation

/// A place in a mailbox.
struct MailboxPlace: Sendable {
  /// The number of the letter that was seen last.
  var number: UInt64

  /// The identity of the mailbox, 0 while it is not known.
  var identity: UInt32

  /// Goes on to behind a letter, perhaps of another mailbox.
  mutating func advance(to number: UInt64, in identity: UInt32) {
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
  private let cursor: (any MailboxCursor)?

  /// Behind what has been read.
  private(set) var place: MailboxPlace

  /// What comes before all that is behind the place: the message that was there already.
  private(set) var initial: Message<Value>?

  /// Whether there is nothing to be read before the next ring, or nothing can be read.
  private(set) var isAtEnd = false

  /// What prevented reading when it was last tried.
  private var failure: WormholeError?

  /// Whether it is worthwhile to read again before the next ring.
  var isToTryAgain: Bool {
    switch failure {
    case .system, .busy: true
    default: false
    }
  }

  /// Finds the place where a reader is to begin.
  ///
  /// Who calls it hears the bell already: what is put in from now on is behind the place.
  init(
    _ name: MessageName<Value>, _ mailbox: any Mailbox, from start: Replay
  ) throws(WormholeError) {
    self.name = name
    self.mailbox = mailbox
    cursor = if case .cursor(let name) = start { try mailbox.openCursor(name) } else { nil }
    let (identity, last) = (try mailbox.identity(), try mailbox.lastNumber())
    let number =
      switch start {
      case .none, .last: last
      case .all: UInt64(0)
      case .since(let sequence): sequence
      case .cursor: try cursor?.position() ?? 0
      }
    // A number that is still to come was one of a mailbox that somebody has removed.
    place = MailboxPlace(number: number > last ? 0 : number, identity: identity)
    if start == .last { try begin(withAbsent: false) }
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
      place.number = max(place.number, newest.number)
    } else if withAbsent {
      initial = Message(.absent, name: name.rawValue, sequence: place.number, isInitial: true)
    }
  }

  /// Goes on where another reader has stopped. What was stored is told first only if that reader
  /// has told it as well: else it comes in its turn.
  mutating func follow(_ predecessor: MailboxPlace) {
    guard predecessor.isComparable(to: place) else { return }
    if let initial, !initial.isAbsent, initial.sequence > predecessor.number { self.initial = nil }
    place.number = predecessor.number
  }

  /// Takes the message that was there already.
  mutating func takeInitial() -> Message<Value>? {
    initial.take()
  }

  /// Notes that all messages up to a number have been handled.
  func acknowledge(_ number: UInt64) {
    // A cursor that could not be moved moves with the next message, or this one comes again.
    try? cursor?.advance(to: number)
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

  /// Returns the next messages, none if there are none. What prevents reading is a message too, but
  /// only once.
  mutating func next(limit: Int) -> [Message<Value>] {
    do throws(WormholeError) {
      let messages = try read(limit: limit)
      failure = nil
      return messages
    } catch {
      isAtEnd = true
      defer { failure = error }
      guard failure != error else { return [] }
      let nobody = Sender(pid: 0, uid: 0)
      return [
        Message(
          .unreadable(error), name: name.rawValue, sequence: place.number, sender: nobody)
      ]
    }
  }

  private mutating func message(_ letter: NumberedLetter) -> Message<Value> {
    let missed = letter.number > place.number ? letter.number - place.number - 1 : 0
    place.number = max(place.number, letter.number)
    return name.message(letter, missed: missed)
  }
}
