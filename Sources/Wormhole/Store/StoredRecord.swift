// The contents of a store.

package import FoundationEssentials

/// An encoded value. A value that another program passed may have no type.
package struct StoredValue: Hashable, Sendable {
  /// The encoding: `json`, `plist` or `raw`, or any text that another program wrote.
  package var codec: String

  /// The name of the type; `nil` suits every reader.
  package var type: String?

  /// The version of the type; `nil` suits every reader.
  package var version: UInt32?

  /// The encoded bytes.
  package var data: Data

  package init(codec: String, type: String? = nil, version: UInt32? = nil, data: Data) {
    (self.codec, self.type, self.version, self.data) = (codec, type, version, data)
  }

  /// The largest number of bytes: 1 MiB.
  package static let maxBytes = 1 << 20
}

/// Who passed a record, as it claims.
package struct StoredSender: Hashable, Sendable {
  /// The process identifier, 0 if it is not known.
  package var pid: Int32 = 0

  /// The random number that identifies the process; 0 if it is not known.
  package var process: UInt64 = 0

  /// The name of the program.
  package var program: String?

  /// The machine, if a relay passed the record on.
  package var machine: String?

  package init(
    pid: Int32 = 0, process: UInt64 = 0, program: String? = nil, machine: String? = nil
  ) {
    (self.pid, self.process, self.program, self.machine) = (pid, process, program, machine)
  }
}

/// The content of a record.
package enum StoredContent: Sendable, Equatable {
  /// A message.
  case value(StoredValue)

  /// A request to look; the messages stay.
  case ping

  /// The messages before it were removed.
  case cleared

  /// A record of another program that this library cannot read.
  case unreadable(WormholeError)
}

/// A record to be passed to a name.
package struct RecordDraft: Sendable {
  package var content: StoredContent

  /// The minimum number of messages that the name is to keep, 1 or more; `nil` for no change.
  package var keep: Int?

  /// The sender; by default this process.
  package var sender: StoredSender

  /// The time in nanoseconds since 1970; `nil` for now. The store sets a later one if it is not
  /// later than that of the previous record.
  package var time: Int64?

  /// Whether to wait until it is on disk, so that it survives a power loss.
  package var isDurable = false

  package init(
    _ content: StoredContent, keep: Int? = nil, sender: StoredSender = .current,
    time: Int64? = nil, isDurable: Bool = false
  ) {
    (self.content, self.keep, self.sender) = (content, keep, sender)
    (self.time, self.isDurable) = (time, isDurable)
  }
}

/// A record of a name.
package struct StoredRecord: Sendable, Equatable {
  /// Its number among all records of its name, counted from 1.
  package var number: UInt64

  package var content: StoredContent

  /// When it was passed, in nanoseconds since 1970. It grows with the number.
  package var time: Int64

  package var sender: StoredSender
}

/// Some records of a name.
package struct StoredBatch: Sendable, Equatable {
  /// The records, in the order of their numbers.
  package var records: [StoredRecord] = []

  /// Whether there are more after them.
  package var hasMore = false

  /// The number of the last record of the name, 0 if it has none.
  package var last: UInt64 = 0

  /// The number of messages that the name keeps.
  package var keep = 1

  /// The random number that the store got when it was created, 0 if there is none. Numbers of one
  /// store mean nothing in another.
  package var identity: Int64 = 0

  /// The file that was read.
  var file: FileID?

  /// The maximum number of records that a reader keeps in memory at a time.
  package static let maxCount = 64

  /// The maximum total size of their values in bytes, unless a single one has more.
  package static let maxBytes = 1 << 20

  /// Returns the position after a record.
  func position(after number: UInt64) -> StoredPosition {
    var position = StoredPosition(number: number, identity: identity)
    position.file = file
    return position
  }
}

/// A name of a store.
package struct StoredName: Sendable, Equatable {
  package var name: String

  /// The number of messages that it keeps.
  package var keep: Int

  /// The number of its last record, 0 if it has none.
  package var last: UInt64

  /// Whether there is a message.
  package var hasMessage: Bool
}
