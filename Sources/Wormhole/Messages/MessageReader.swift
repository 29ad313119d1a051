// Reads the messages of a name one after the other.

internal import DarwinNotifySupport

/// A position among the messages of a name, with the stored message that is delivered first.
struct MessageReader<Value: Codable & Sendable>: StoredReader {
  let name: MessageName<Value>
  let store: MessageStore
  let cursor: StoreCursor?
  private let senders: Wormhole.Senders
  private let start: Wormhole.Start
  private(set) var position: StoredPosition

  /// The stored message that is delivered before the messages after the position.
  private var initial: Wormhole.Message<Value>?

  /// Whether the last page was that message, which no other one replaces.
  private var hasReadInitial = false

  /// Whether messages before the next one may have been missed, nobody knows how many.
  private var mayHaveMissed = false

  /// The state before the elements of the last page.
  private var before = (position: StoredPosition(), mayHaveMissed: false)

  /// Finds the position to start at.
  ///
  /// The caller observes the change notification already: later records are after the position.
  ///
  /// - Parameters:
  ///   - name: the name of the messages.
  ///   - store: the store.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  ///   - inherited: the cursor of the reader that this one replaces.
  /// - Throws: what the store throws.
  init(
    _ name: MessageName<Value>, in store: MessageStore, from senders: Wormhole.Senders,
    starting start: Wormhole.Start, inheriting inherited: StoreCursor? = nil
  ) throws(WormholeError) {
    (self.name, self.store, self.senders, self.start) = (name, store, senders, start)
    try store.check(name.rawValue)
    cursor = try Self.cursor(of: name.rawValue, in: store, for: start, inherited)
    let state = try store.newestState(of: name.rawValue, within: nil)
    let number =
      switch start {
      case .new, .last, .lastOrAbsent: state.last
      case .all: UInt64(0)
      case .since(let number): number
      case .cursor: try cursor?.position() ?? 0
      }
    // A number that is too high comes from a file that has been removed.
    mayHaveMissed = number > state.last
    position = StoredPosition(number: mayHaveMissed ? 0 : number, identity: state.identity)
    guard start == .last || start == .lastOrAbsent else { return }
    // Older pings and clearings are skipped.
    initial = state.newest.map { name.message($0, isInitial: true) }
    if initial == nil, start == .lastOrAbsent {
      initial = Wormhole.Message(
        .absent, name: name.rawValue, sequence: state.last, isInitial: true)
    }
  }

  private static func cursor(
    of name: String, in store: MessageStore, for start: Wormhole.Start, _ inherited: StoreCursor?
  ) throws(WormholeError) -> StoreCursor? {
    guard case .cursor(let cursor) = start else { return nil }
    if let inherited, ExactString(inherited.cursor) == ExactString(cursor) { return inherited }
    return try store.openCursor(cursor, of: name)
  }

  /// Returns a reader that continues where another one stopped. The stored message is delivered
  /// first only if that reader has also delivered it; otherwise it comes in its turn.
  func following(_ predecessor: StoredPosition) -> Self {
    var reader = self
    if predecessor.number > position.number {
      // The message stored when this reader was made may no longer be the newest.
      reader =
        (try? Self(name, in: store, from: senders, starting: start, inheriting: cursor)) ?? self
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
  var readsNewest: Bool { name.keep == .newest && !hasReadInitial }

  mutating func goBack() {
    (position, mayHaveMissed) = before
  }

  func element(for error: WormholeError) -> Wormhole.Message<Value>? {
    Wormhole.Message(.unreadable(error), name: name.rawValue, sequence: position.number)
  }

  mutating func read(
    within limit: WorkLimit?
  ) throws -> StoredPage<Wormhole.Message<Value>> {
    let message = initial.take()
    hasReadInitial = message != nil
    if let message {
      return StoredPage(elements: [(message.sequence, message)], hasMore: true)
    }
    let (batch, mayHaveMissedMore) = try store.records(
      of: name.rawValue, following: &position, within: limit)
    if mayHaveMissedMore { mayHaveMissed = true }
    before = (position, mayHaveMissed)
    return StoredPage(elements: batch.records.map { element($0) }[...], hasMore: batch.hasMore)
  }

  private mutating func element(
    _ record: StoredRecord
  ) -> (number: UInt64, element: Wormhole.Message<Value>?) {
    let missed = record.number - position.number - 1
    position.number = record.number
    guard senders.include(record.sender) else { return (record.number, nil) }
    defer { mayHaveMissed = false }
    var message = name.message(record, missed: missed, mayHaveMissed: mayHaveMissed)
    message.cursor = cursor.map { CursorLink($0, at: position, in: store) }
    return (record.number, message)
  }
}
