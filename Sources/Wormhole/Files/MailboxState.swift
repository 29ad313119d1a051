// Remembers what was put into a mailbox of files.

internal import Foundation

/// The file `*.mailbox`: which numbers were given out, for what, when and to whom.
///
/// It is 112 bytes long, numbers are in little-endian order:
///
///     0   8 bytes  "WORMBOX" and a NUL
///     8   u32      version of the format, 1
///     12  u32      identity: a number that was drawn when the file was made, not 0
///     16  u64      the number that was given out last
///     24  stamp    the last message, of which the number may have been left out
///     48  stamp    the last ping
///     72  stamp    the last clearing
///     96  u64      checksum of all before
///     104 u64      0
///
/// A stamp is the number (u64, 0 for none), the time (i64, nanoseconds since 1970), the process
/// (i32) and the user (u32). The file is written under its own lock. Readers take none: they find
/// by the checksum whether they came in between.
struct MailboxState {
  /// A number that was given out.
  struct Stamp {
    var number: UInt64 = 0
    var time: Int64 = 0
    var sender = Sender(pid: 0, uid: 0)
  }

  let identity: UInt32
  var lastNumber: UInt64 = 0
  var message = Stamp()
  var ping = Stamp()
  var cleared = Stamp()

  private static let magic = Array("WORMBOX\0".utf8)
  private static let version: UInt32 = 1
  private static let size = 112
  private static let checkedSize = 96

  /// Gives out the next number for a letter.
  mutating func next(for letter: Letter) -> Stamp {
    lastNumber += 1
    return Stamp(number: lastNumber, time: letter.date.nanoseconds, sender: letter.sender)
  }

  /// Reads the file: `nil` if there is no state in it, which is so for a file that was just made.
  init?(descriptor: CInt) {
    // Two attempts that come in between of two writers are rare enough, three do not happen.
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

  /// Makes the state of a mailbox without a file: all that is known is its message, if it has one.
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
      identity != 0, lastNumber < .max
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
    sender = Sender(pid: reader.take(), uid: reader.take())
  }

  fileprivate func put(into writer: inout ByteWriter) {
    writer.put(number)
    writer.put(time)
    writer.put(sender.pid)
    writer.put(sender.uid)
  }

  /// Makes the letter that the number was given out for.
  func letter(_ content: Letter.Content) -> NumberedLetter {
    let date = Date(nanoseconds: time)
    return NumberedLetter(number: number, letter: Letter(content, date: date, sender: sender))
  }
}

extension Date {
  init(nanoseconds: Int64) {
    self.init(timeIntervalSince1970: TimeInterval(nanoseconds) / 1e9)
  }

  /// Nanoseconds since 1970. A date that is too far away for that becomes the farthest that is not.
  var nanoseconds: Int64 {
    Int64(exactly: (timeIntervalSince1970 * 1e9).rounded())
      ?? (timeIntervalSince1970 < 0 ? .min : .max)
  }
}
