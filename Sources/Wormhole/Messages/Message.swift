// Represents a message for its listeners.

public import DarwinNotifySupport
public import FoundationEssentials

extension Wormhole {
  /// A message as delivered to listeners and readers.
  public struct Message<Value: Sendable>: Sendable {
    /// The content that was passed.
    public let content: Content<Value>

    /// The name that it was passed to.
    public let name: String

    /// The number of the message among all of its name, including pings and clearings, counted from
    /// 1.
    ///
    /// For ``Content/absent`` it is the last number given out, 0 if there is none.
    public let sequence: UInt64

    /// When it was passed; it increases with the number. For ``Content/absent``, now.
    public let date: Date

    /// The process that passed it. For ``Content/absent``, this one.
    public let sender: Sender

    /// The number of messages before this one that the listener did not get, because newer ones
    /// replaced them or they are no longer kept.
    public let missed: UInt64

    /// Whether further messages before this one may have been missed, nobody knows how many: the
    /// file of the messages was removed, replaced, or restored from a copy.
    public let mayHaveMissed: Bool

    /// Whether it was already stored when the listener was bound.
    public let isInitial: Bool

    /// The cursor that the message was read with.
    var cursor: CursorLink?

    /// Creates a message, for tests of a listener.
    ///
    /// - Parameters:
    ///   - content: what was passed.
    ///   - name: the name that it was passed to.
    ///   - sequence: its number among all of its name.
    ///   - date: when it was passed.
    ///   - sender: the process that passed it.
    ///   - missed: the number of messages before it that the listener did not get.
    ///   - mayHaveMissed: whether there may have been more.
    ///   - isInitial: whether it was already stored when the listener was bound.
    public init(
      _ content: Content<Value>, name: String, sequence: UInt64 = 1, date: Date = Date(),
      sender: Sender = .current, missed: UInt64 = 0, mayHaveMissed: Bool = false,
      isInitial: Bool = false
    ) {
      self.content = content
      self.name = name
      self.sequence = sequence
      self.date = date
      self.sender = sender
      self.missed = missed
      self.mayHaveMissed = mayHaveMissed
      self.isInitial = isInitial
    }
  }
}

extension Wormhole.Message: Equatable where Value: Equatable {
  /// Returns whether all properties of two messages are equal.
  public static func == (left: Self, right: Self) -> Bool {
    left.content == right.content && left.name == right.name && left.sequence == right.sequence
      && left.date == right.date && left.sender == right.sender && left.missed == right.missed
      && left.mayHaveMissed == right.mayHaveMissed && left.isInitial == right.isInitial
  }
}

extension Wormhole.Message {
  /// The value, if there is one.
  public var value: Value? {
    guard case .value(let value) = content else { return nil }
    return value
  }

  /// Why there is no value, if it could not be read.
  public var error: WormholeError? {
    guard case .unreadable(let error) = content else { return nil }
    return error
  }

  /// Whether this reports that nothing is stored.
  var isAbsent: Bool {
    if case .absent = content { true } else { false }
  }

  /// Stores in the cursor of the reader that this message and all before it have been handled.
  ///
  /// This happens automatically when a handler returns, or when the next message of a sequence is
  /// requested. Without a cursor it has no effect.
  ///
  /// - Throws: ``WormholeError/cursorNotStored``.
  public func acknowledge() async throws {
    try await cursor?.advance()
  }
}

/// The cursor for a message, which may outlive the reader and must not keep others from using the
/// cursor.
struct CursorLink: Sendable {
  private let name: String
  private let position: StoredPosition
  private let store: MessageStore
  private weak let cursor: StoreCursor?

  init(_ cursor: StoreCursor, at position: StoredPosition, in store: MessageStore) {
    (name, self.position, self.store, self.cursor) = (cursor.cursor, position, store, cursor)
  }

  func advance() async throws(WormholeError) {
    guard let cursor else {
      throw .cursorNotStored(name, reason: "the reader of the message has ended")
    }
    try await store.run(.writing) { [position] (limit) throws(WormholeError) in
      try cursor.advance(to: position, within: limit)
    }
  }
}

extension MessageName {
  /// Decodes a record.
  func message(
    _ record: StoredRecord, missed: UInt64 = 0, mayHaveMissed: Bool = false,
    isInitial: Bool = false
  ) -> Wormhole.Message<Value> {
    Wormhole.Message(
      content(record), name: rawValue, sequence: record.number,
      date: Date(nanoseconds: record.time), sender: Sender(record.sender), missed: missed,
      mayHaveMissed: mayHaveMissed, isInitial: isInitial)
  }

  private func content(_ record: StoredRecord) -> Wormhole.Content<Value> {
    switch record.content {
    case .value(let stored):
      do throws(WormholeError) {
        return .value(try decode(stored))
      } catch {
        return .unreadable(error)
      }
    case .ping: return .ping
    case .cleared: return .cleared
    case .unreadable(let error): return .unreadable(error)
    }
  }

  /// Returns the value of the newest message, `nil` if there is none.
  func value(of newest: StoredRecord?) throws(WormholeError) -> Value? {
    switch newest?.content {
    case .value(let stored): try decode(stored)
    case .unreadable(let error): throw error
    case .ping, .cleared, nil: nil
    }
  }
}
