// Represents the contents of a mailbox.

public import FoundationEssentials

extension Wormhole {
  /// An entry of a mailbox.
  public struct Record: Sendable {
    /// The content. ``Content/absent`` and ``Content/unreadable(_:)`` cannot be stored.
    public var content: Content<Payload>

    /// When it was appended, by the clock of the sender.
    public var date: Date

    /// The process that appended it.
    public var sender: Sender

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - date: when it is appended.
    ///   - sender: the process that appends it.
    public init(_ content: Content<Payload>, date: Date = Date(), sender: Sender = .current) {
      self.content = content
      self.date = date
      self.sender = sender
    }
  }

  /// A record with the number that its mailbox gave it.
  public struct NumberedRecord: Sendable {
    /// The number, 1 or more; 0 for an unreadable record whose number is not known.
    public var number: UInt64

    /// The record.
    public var record: Record

    /// Creates a numbered record.
    ///
    /// - Parameters:
    ///   - number: the number.
    ///   - record: the record.
    public init(number: UInt64, record: Record) {
      self.number = number
      self.record = record
    }
  }

  /// Some records of a mailbox.
  public struct RecordBatch: Sendable {
    /// The records, in the order of their numbers.
    public var records: [NumberedRecord]

    /// Whether there may be more after them.
    public var hasMore: Bool

    /// The identity of the mailbox that they come from, 0 if it has none.
    public var identity: UInt32

    /// Creates a batch.
    ///
    /// - Parameters:
    ///   - records: the records, in the order of their numbers.
    ///   - hasMore: whether there may be more after them.
    ///   - identity: the identity of the mailbox that they come from.
    public init(_ records: [NumberedRecord], hasMore: Bool, identity: UInt32 = 0) {
      self.records = records
      self.hasMore = hasMore
      self.identity = identity
    }
  }

  /// An encoded value with the information needed to decode it.
  public struct Payload: Sendable, Hashable {
    /// The identifier of the codec, at most 65 535 bytes of UTF-8.
    public var codec: String

    /// The name of the value's type, at most 65 535 bytes of UTF-8.
    public var type: String

    /// The version of the type.
    public var version: UInt32

    /// The encoded bytes.
    public var data: Data

    /// Creates a payload.
    ///
    /// - Parameters:
    ///   - codec: the identifier of the codec.
    ///   - type: the name of the value's type.
    ///   - version: the version of the type.
    ///   - data: the encoded bytes.
    public init(codec: String, type: String, version: UInt32, data: Data) {
      self.codec = codec
      self.type = type
      self.version = version
      self.data = data
    }
  }
}
