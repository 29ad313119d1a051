// Reads the messages of a name one after the other.

internal import DarwinNotifySupport

/// A position in a mailbox, with the messages that follow it.
struct MessageReader<Value: Codable & Sendable>: Sendable {
  let name: MessageName<Value>
  let mailbox: any Wormhole.Mailbox

  /// The cursor, if the reader has one.
  let cursor: ReaderCursor?

  /// The position after the last message that has been read.
  private(set) var position: MailboxPosition

  /// The stored message that is delivered before the messages after the position.
  private var initial: Wormhole.Message<Value>?

  /// Messages before the position that have not been taken yet.
  private var batch: ArraySlice<Wormhole.Message<Value>> = []

  /// Whether the mailbox may have messages after the position, as at the start.
  private var mayHaveMore = true

  /// Whether messages before the next one may have been missed, nobody knows how many.
  private var mayHaveMissed = false

  /// A handled message whose number the cursor could not store.
  private var unstored: UInt64?

  /// Why the last attempt to read failed.
  private var failure: WormholeError?

  /// The number of messages that are read at a time.
  private static var batchSize: Int { 16 }

  /// Finds the position to start at.
  ///
  /// The caller observes the change notification already: later records are after the position.
  ///
  /// - Parameters:
  ///   - name: the name of the messages.
  ///   - mailbox: the mailbox of the name.
  ///   - start: the message to begin with.
  ///   - inherited: the cursor of the reader that this one replaces.
  /// - Throws: what the mailbox throws.
  init(
    _ name: MessageName<Value>, _ mailbox: any Wormhole.Mailbox, from start: Wormhole.Start,
    inheriting inherited: ReaderCursor? = nil
  ) throws(WormholeError) {
    self.name = name
    self.mailbox = mailbox
    cursor = try Self.cursor(of: mailbox, for: start, inherited)
    let (identity, last) = (try mailbox.identity(), try mailbox.lastNumber())
    let number =
      switch start {
      case .new, .last, .lastOrAbsent: last
      case .all: UInt64(0)
      case .since(let number): number
      case .cursor: try cursor?.position() ?? 0
      }
    // A number from the future belonged to a mailbox that somebody has removed.
    mayHaveMissed = number > last
    position = MailboxPosition(number: mayHaveMissed ? 0 : number, identity: identity)
    if start == .last || start == .lastOrAbsent { try readInitial(start) }
  }

  private static func cursor(
    of mailbox: any Wormhole.Mailbox, for start: Wormhole.Start, _ inherited: ReaderCursor?
  ) throws(WormholeError) -> ReaderCursor? {
    guard case .cursor(let name) = start else { return nil }
    if let inherited, ExactString(inherited.name) == ExactString(name) { return inherited }
    return try ReaderCursor(name, of: mailbox)
  }

  /// Reads the stored messages. Older pings and clearings are skipped.
  private mutating func readInitial(_ start: Wormhole.Start) throws(WormholeError) {
    if let newest = try mailbox.lastMessage() {
      initial = name.message(newest, isInitial: true)
      position.number = max(position.number, newest.number)
    } else if start == .lastOrAbsent {
      initial = Wormhole.Message(
        .absent, name: name.rawValue, sequence: position.number, isInitial: true)
    }
  }

  /// Returns a reader that continues where another one stopped. The stored message is delivered
  /// first only if that reader has also delivered it; otherwise it comes in its turn.
  func following(_ predecessor: MailboxPosition, from start: Wormhole.Start) -> Self {
    var reader = self
    if predecessor.number > position.number {
      // The message stored when this reader was made may no longer be the newest.
      reader = (try? Self(name, mailbox, from: start, inheriting: cursor)) ?? self
    }
    guard predecessor.isComparable(to: reader.position) else { return reader }
    if let initial = reader.initial, !initial.isAbsent, initial.sequence > predecessor.number {
      reader.initial = nil
    }
    reader.position.number = predecessor.number
    return reader
  }
}

extension MessageReader {
  /// Whether ``next()`` may return a message without another change notification.
  var hasMore: Bool { unstored == nil && (initial != nil || !batch.isEmpty || mayHaveMore) }

  /// Whether to try again without another change notification.
  var shouldRetry: Bool { failure?.mayPass ?? false }

  /// Stores that all messages up to a number have been handled. If that fails, no other message is
  /// returned until it succeeds.
  mutating func acknowledge(_ number: UInt64) {
    guard let cursor else { return }
    unstored = number
    do throws(WormholeError) {
      try cursor.advance(to: number)
      unstored = nil
    } catch {}
  }

  /// Returns the next message, or `nil` if there is none. An error is returned as a message, once.
  mutating func next() -> Wormhole.Message<Value>? {
    do throws(WormholeError) {
      if let unstored { try cursor?.advance(to: unstored) }
      unstored = nil
      if let initial = initial.take() { return initial }
      if batch.isEmpty, mayHaveMore || failure != nil { batch = try read(Self.batchSize)[...] }
      failure = nil
      return batch.popFirst()
    } catch {
      defer { failure = error }
      return failure == error ? nil : message(of: error)
    }
  }

  /// Returns the next message if it has been read already.
  mutating func nextInMemory() -> Wormhole.Message<Value>? {
    initial.take() ?? batch.popFirst()
  }

  /// Notes that there may be more messages.
  mutating func look() {
    mayHaveMore = true
  }

  private func message(of error: WormholeError) -> Wormhole.Message<Value> {
    Wormhole.Message(
      .unreadable(error), name: name.rawValue, sequence: unstored ?? position.number,
      sender: .unknown)
  }

  /// Returns the next messages, none if there are none.
  mutating func read(_ limit: Int) throws(WormholeError) -> [Wormhole.Message<Value>] {
    // After an error there is nothing to read until the next attempt.
    mayHaveMore = false
    var found = try mailbox.records(after: position.number, limit: limit)
    let start = MailboxPosition(number: 0, identity: found.identity)
    if !start.isComparable(to: position) {
      // Somebody has removed the mailbox. The new one counts from 1 again.
      position = start
      mayHaveMissed = true
      found = try mailbox.records(after: 0, limit: limit)
    } else if found.records.isEmpty, case let last = try mailbox.lastNumber(), last > 0,
      last < position.number
    {
      // Somebody has restored an earlier state. The newest record, at least, is new: it was the
      // reason to look.
      position.number = last - 1
      mayHaveMissed = true
      found = try mailbox.records(after: position.number, limit: limit)
    }
    if found.identity != 0 { position.identity = found.identity }
    let number = position.number
    let messages = found.records.map { message($0) }
    // Records without progress would be returned forever.
    mayHaveMore = found.hasMore && position.number > number
    return messages
  }

  private mutating func message(_ record: Wormhole.NumberedRecord) -> Wormhole.Message<Value> {
    let missed = record.number > position.number ? record.number - position.number - 1 : 0
    position.number = max(position.number, record.number)
    defer { mayHaveMissed = false }
    return name.message(
      record, missed: missed, mayHaveMissed: mayHaveMissed, cursor: cursor)
  }
}

extension MessageName {
  /// Returns the messages of a mailbox after a number, without pings.
  func history(
    in mailbox: any Wormhole.Mailbox, since number: UInt64
  ) throws(WormholeError) -> [Wormhole.Message<Value>] {
    // Messages that others pass meanwhile are left out.
    let last = try mailbox.lastNumber()
    guard number < last else { return [] }
    var reader = try MessageReader(self, mailbox, from: .since(number))
    var messages: [Wormhole.Message<Value>] = []
    repeat {
      try WorkLimit.check()
      messages += try reader.read(64).filter { $0.value != nil || $0.error != nil }
    } while reader.hasMore && reader.position.number < last
    return messages
  }
}

/// A position in a mailbox.
struct MailboxPosition: Sendable {
  /// The number of the last record before it.
  var number: UInt64

  /// The identity of the mailbox, 0 while it is not known.
  var identity: UInt32

  /// Moves to after a record, perhaps of another mailbox.
  mutating func advance(to number: UInt64, in identity: UInt32) {
    let isComparable = isComparable(to: Self(number: number, identity: identity))
    self = Self(number: isComparable ? max(self.number, number) : number, identity: identity)
  }

  /// Whether both are, or may be, positions in the same mailbox.
  func isComparable(to other: Self) -> Bool {
    identity == other.identity || identity == 0 || other.identity == 0
  }
}

/// Gets the position after the last message that a reader has delivered.
typealias PositionHandler = @Sendable (MailboxPosition) -> Void

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
