// Stores which numbers a mailbox of files has given out.

internal import FoundationEssentials
internal import Glibc

/// The file `*.mailbox`: the numbers given out, with their purpose, time and sender.
///
/// It is 136 bytes long, numbers are in little-endian order:
///
///     0   8 bytes  "WORMBOX" and a NUL
///     8   u32      version of the format, 1
///     12  u32      identity: a random number drawn when the file was made, not 0
///     16  u64      the last number given out
///     24  stamp    the last message; it may never have been written
///     56  stamp    the last ping
///     88  stamp    the last clearing
///     120 u64      checksum of all before
///     128 u64      0
///
/// A stamp is the number (u64, 0 for none), the time (i64, nanoseconds since 1970), the pid (i32),
/// the user (u32) and the number of the process (u64). The file is written under its own lock.
/// Readers take none: the checksum shows whether they read in the middle of a write.
struct MailboxState {
  /// A number with its time and sender.
  struct Stamp {
    var number: UInt64 = 0
    var time: Int64 = 0
    var sender = Wormhole.Sender.unknown
  }

  let identity: UInt32
  var lastNumber: UInt64 = 0
  var message = Stamp()
  var ping = Stamp()
  var cleared = Stamp()

  private static let magic = Array("WORMBOX\0".utf8)
  private static let version: UInt32 = 1
  private static let size = 136
  private static let checkedSize = 120

  /// Gives out the next number for a record.
  mutating func next(for record: Wormhole.Record) -> Stamp {
    lastNumber += 1
    return Stamp(number: lastNumber, time: record.date.nanoseconds, sender: record.sender)
  }

  /// Reads the file; `nil` if there is no state in it, as in a new file.
  init?(descriptor: CInt) {
    // Reading in the middle of a write twice in a row is rare; three times does not happen.
    for _ in 0..<3 {
      var isWhole = false
      let state = withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { bytes in
        isWhole = pread(descriptor, bytes.baseAddress, Self.size, 0) == Self.size
        return isWhole ? Self(parsing: .init(bytes)) : nil
      }
      guard isWhole else { return nil }
      if let state {
        self = state
        return
      }
    }
    return nil
  }

  /// Makes the state of a mailbox without a file, of which at most the message is known.
  init(lastNumber: UInt64) {
    identity = .random(in: 1...UInt32.max)
    self.lastNumber = lastNumber
  }

  private init?(parsing bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard reader.take(count: 8).elementsEqual(Self.magic), reader.take() == Self.version else {
      return nil
    }
    identity = reader.take()
    lastNumber = reader.take()
    message = Stamp(from: &reader)
    ping = Stamp(from: &reader)
    cleared = Stamp(from: &reader)
    guard reader.take() == checksum(.init(rebasing: bytes[..<Self.checkedSize])),
      identity != 0, lastNumber < .max,
      [message, ping, cleared].allSatisfy({ $0.number <= lastNumber })
    else { return nil }
  }

  /// Writes the file, which the caller has locked.
  func write(to descriptor: CInt, path: String) throws(WormholeError) {
    var writer = ByteWriter(capacity: Self.size)
    writer.put(Self.magic)
    writer.put(Self.version)
    writer.put(identity)
    writer.put(lastNumber)
    for stamp in [message, ping, cleared] { stamp.put(into: &writer) }
    writer.put(writer.bytes.withUnsafeBytes { checksum($0) })
    writer.put(UInt64(0))
    guard pwrite(descriptor, writer.bytes, Self.size, 0) == Self.size else {
      throw .system(code: errno, path: path)
    }
  }
}

extension MailboxState.Stamp {
  fileprivate init(from reader: inout ByteReader) {
    number = reader.take()
    time = reader.take()
    sender = Wormhole.Sender(pid: reader.take(), uid: reader.take(), process: reader.take())
  }

  fileprivate func put(into writer: inout ByteWriter) {
    writer.put(number)
    writer.put(time)
    writer.put(sender.pid)
    writer.put(sender.uid)
    writer.put(sender.process)
  }

  /// Makes the record of the number.
  func record(_ content: Wormhole.Content<Wormhole.Payload>) -> Wormhole.NumberedRecord {
    let date = Date(nanoseconds: time)
    return Wormhole.NumberedRecord(
      number: number, record: Wormhole.Record(content, date: date, sender: sender))
  }
}
