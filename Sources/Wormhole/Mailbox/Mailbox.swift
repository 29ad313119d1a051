// The records that a transit keeps of one name.

public import FoundationEssentials

extension Wormhole {
  /// The numbered records of one message name.
  ///
  /// Every record, including pings and clearings, gets the next number of its name, counted from 1
  /// and never used twice. A process that is killed while it writes may leave a gap. All
  /// requirements may be called on any thread, by any number of processes.
  public protocol Mailbox: Sendable {
    /// The name of the messages, for errors.
    var name: String { get }

    /// The identifier of the transit, for errors; by default the name of this type.
    var transit: String { get }

    /// Appends a record.
    ///
    /// A value replaces the previous one or joins the kept ones. A ping leaves them alone; a
    /// clearing removes them. Others see all of it or nothing, whatever kills the process.
    ///
    /// - Parameter record: the record.
    /// - Returns: its number.
    /// - Throws: ``WormholeError``; nothing was appended.
    func append(_ record: Record) throws(WormholeError) -> UInt64

    /// Returns the records after a number that are still kept, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - number: the number of the last known record, 0 for none.
    ///   - limit: the largest number of records to return, 1 or more; the earliest ones come first.
    /// - Returns: the records, and whether there are more. If there are, at least one is returned.
    /// - Throws: ``WormholeError`` if the mailbox cannot be read. A record that cannot be read
    ///   carries its error as content.
    func records(after number: UInt64, limit: Int) throws(WormholeError) -> RecordBatch

    /// Returns the newest value, or `nil` if none is stored. Pings and clearings do not count.
    func lastMessage() throws(WormholeError) -> NumberedRecord?

    /// Returns the number of the last record that can be seen, 0 if there is none.
    func lastNumber() throws(WormholeError) -> UInt64

    /// Returns the random number that the mailbox got when it was made, 0 while there is none.
    ///
    /// If somebody removes the files, the next record is the first of another mailbox. Readers
    /// recognize that by this number.
    func identity() throws(WormholeError) -> UInt32

    /// Reads the newest value and appends a record derived from it, while nobody else can append.
    ///
    /// - Parameter body: gets what ``lastMessage()`` returns; returns the record to append, or
    ///   `nil` for none.
    /// - Returns: the number of the record, or `nil` if there was none; what `body` throws, nothing
    ///   was appended then.
    /// - Throws: ``WormholeError/notCoordinated`` if the transit does not support
    ///   it.
    func update<Failure: Error>(
      _ body: (NumberedRecord?) throws(Failure) -> Record?
    ) throws(WormholeError) -> Result<UInt64?, Failure>

    /// Opens the stored position of a reader. A new cursor is before the first record.
    ///
    /// - Parameter name: the name of the cursor.
    /// - Returns: the cursor, which nobody else can open while it lives.
    /// - Throws: ``WormholeError/noCursors`` if the transit does not support it,
    ///   ``WormholeError/cursorInUse`` while another reader, in any process, holds it.
    func openCursor(_ name: String) throws(WormholeError) -> any MailboxCursor

    /// Returns the cursors of the name, in the order of their names.
    func cursors() throws(WormholeError) -> [Cursor]

    /// Removes a cursor. If it does not exist, nothing happens.
    ///
    /// - Parameter name: the name of the cursor.
    /// - Throws: ``WormholeError/noCursors``, ``WormholeError/cursorInUse``.
    func removeCursor(_ name: String) throws(WormholeError)
  }

  /// The stored position of a reader in a mailbox. Nobody else can open it while this object lives.
  public protocol MailboxCursor: Sendable {
    /// Returns the number of the last record that was handled, 0 for none.
    func position() throws(WormholeError) -> UInt64

    /// Stores that all records up to a number have been handled.
    ///
    /// - Parameter number: the number of the record.
    /// - Throws: ``WormholeError`` if it could not be stored.
    func advance(to number: UInt64) throws(WormholeError)
  }
}

extension Wormhole.Mailbox {
  /// The name of the type.
  public var transit: String { "\(Self.self)" }

  /// Throws ``WormholeError/notCoordinated``, for mailboxes without updates.
  public func update<Failure: Error>(
    _ body: (Wormhole.NumberedRecord?) throws(Failure) -> Wormhole.Record?
  ) throws(WormholeError) -> Result<UInt64?, Failure> {
    throw .notCoordinated(name: self.name, transit: transit)
  }

  /// Throws ``WormholeError/noCursors``, for mailboxes without cursors.
  public func openCursor(_ name: String) throws(WormholeError) -> any Wormhole.MailboxCursor {
    throw .noCursors(name: self.name, transit: transit)
  }

  /// Throws ``WormholeError/noCursors``, for mailboxes without cursors.
  public func cursors() throws(WormholeError) -> [Wormhole.Cursor] {
    throw .noCursors(name: self.name, transit: transit)
  }

  /// Throws ``WormholeError/noCursors``, for mailboxes without cursors.
  public func removeCursor(_ name: String) throws(WormholeError) {
    throw .noCursors(name: self.name, transit: transit)
  }
}

extension Wormhole {
  /// A stored position of a reader, see ``Start/cursor(_:)``.
  public struct Cursor: Hashable, Sendable {
    /// The name of the cursor.
    public let name: String

    /// The number of the last message that was handled, 0 for none.
    public let sequence: UInt64

    /// The number of kept records after it, pings and clearings too.
    public let lag: Int

    /// Creates a description of a cursor.
    ///
    /// - Parameters:
    ///   - name: the name of the cursor.
    ///   - sequence: the number of the last message that was handled.
    ///   - lag: the number of kept records after it.
    public init(name: String, sequence: UInt64, lag: Int) {
      self.name = name
      self.sequence = sequence
      self.lag = lag
    }
  }
}

/// How the messages of a name are stored.
///
/// All processes that use a name must use the same transit for it. The corresponding protocol of
/// MMWormhole is `MMWormholeTransiting`.
public protocol MessageTransit: Sendable {
  /// Distinguishes transits of one kind with different settings.
  var identifier: String { get }

  /// Opens the mailbox of a name, which need not exist yet.
  ///
  /// - Parameters:
  ///   - name: the name of the messages, never empty.
  ///   - directory: the directory of the wormhole, mode 0700. If it was removed, appending a
  ///     record must create it again.
  /// - Returns: the mailbox.
  /// - Throws: ``WormholeError`` if the name cannot be used. Nothing is read or written yet.
  func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Wormhole.Mailbox

  /// Returns the names with stored messages.
  ///
  /// - Parameter directory: the directory of the wormhole.
  /// - Returns: the names, in no order. Files of other kinds do not count.
  /// - Throws: ``WormholeError`` if the directory cannot be read.
  func names(in directory: URL) throws(WormholeError) -> [String]
}

/// The limits of messages.
public enum MessageLimits {
  /// The largest encoded value: 256 MiB.
  ///
  /// A reader maps or reads a whole message at once. Put larger data into a separate file and pass
  /// its path.
  public static let payloadBytes = 256 << 20
}
