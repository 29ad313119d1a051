// Encodes the header of a message file.

/// The beginning of a file `*.message`, numbers in little-endian order:
///
///     0   8 bytes  "WORMHOLE"
///     8   u32      version of the format, 1
///     12  u32      bytes of the header, a multiple of 8; the encoded value follows it
///     16  u64      number of the message
///     24  i64      time, nanoseconds since 1970
///     32  i32      process that passed it
///     36  u32      its user
///     40  u64      the number of the process
///     48  u64      bytes of the encoded value
///     56  u64      checksum of the encoded value
///     64  u32      version of the type
///     68  u16      bytes of the codec's name
///     70  u16      bytes of the type's name
///     72  u32      bytes of the message's name
///     76  u32      identity of the mailbox, see ``MailboxState``
///     80  u64      checksum of the header, this field taken for 0
///     88           codec, type and name in UTF-8, then zeros up to the end of the header
struct MessageHeader {
  var number: UInt64
  var time: Int64
  var sender: Wormhole.Sender
  var payloadBytes: UInt64
  var payloadChecksum: UInt64
  var identity: UInt32
  var version: UInt32
  var codec: String
  var type: String
  var name: String

  /// The size of the fields before the names.
  static let fixedBytes = 88

  /// The largest header: the longest names that can be written need about half of it.
  static let maxBytes = 1 << 20

  private static let magic = Array("WORMHOLE".utf8)
  private static let formatVersion: UInt32 = 1
  private static let checksumOffset = 80

  /// Returns the bytes of the header.
  func encoded() throws(WormholeError) -> [UInt8] {
    let (codec, type, name) = (codec.utf8, type.utf8, name.utf8)
    let size = (Self.fixedBytes + codec.count + type.count + name.count + 7) & ~7
    guard let codecBytes = UInt16(exactly: codec.count),
      let typeBytes = UInt16(exactly: type.count)
    else {
      throw .tooLarge(bytes: max(codec.count, type.count), limit: Int(UInt16.max))
    }
    guard size <= Self.maxBytes else { throw .tooLarge(bytes: size, limit: Self.maxBytes) }
    var writer = ByteWriter(capacity: size)
    writer.put(Self.magic)
    writer.put(Self.formatVersion)
    writer.put(UInt32(size))
    writer.put(number)
    writer.put(time)
    writer.put(sender.pid)
    writer.put(sender.uid)
    writer.put(sender.process)
    writer.put(payloadBytes)
    writer.put(payloadChecksum)
    writer.put(version)
    writer.put(codecBytes)
    writer.put(typeBytes)
    writer.put(UInt32(name.count))
    writer.put(identity)
    writer.put(UInt64(0))
    for text in [codec, type, name] { writer.put(text) }
    writer.put(repeatElement(0, count: size - writer.bytes.count))
    let sum = writer.bytes.withUnsafeBytes { checksum($0) }
    writer.replace(at: Self.checksumOffset, with: sum)
    return writer.bytes
  }

  /// Returns the size of a header, given its beginning.
  static func size(
    from beginning: UnsafeRawBufferPointer, path: String
  ) throws(WormholeError) -> Int {
    let isOurs = beginning.prefix(magic.count).elementsEqual(magic)
    guard beginning.count >= fixedBytes else {
      throw isOurs ? .damaged(path: path) : .foreign(path: path)
    }
    guard isOurs else { throw .foreign(path: path) }
    var reader = ByteReader(.init(rebasing: beginning[8...]))
    let version: UInt32 = reader.take()
    guard version == formatVersion else {
      throw .unknownFormat(version: Int(version), path: path)
    }
    let size = Int(reader.take(UInt32.self))
    guard size >= fixedBytes, size <= maxBytes, size % 8 == 0 else {
      throw .damaged(path: path)
    }
    return size
  }
}

extension MessageHeader {
  /// Parses a complete header.
  init(parsing bytes: UnsafeRawBufferPointer, path: String) throws(WormholeError) {
    let sum = withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 8) { copy in
      copy.copyMemory(from: bytes)
      copy.storeBytes(of: 0, toByteOffset: Self.checksumOffset, as: UInt64.self)
      return checksum(.init(copy))
    }
    var reader = ByteReader(.init(rebasing: bytes[16...]))
    number = reader.take()
    time = reader.take()
    sender = Wormhole.Sender(pid: reader.take(), uid: reader.take(), process: reader.take())
    payloadBytes = reader.take()
    payloadChecksum = reader.take()
    version = reader.take()
    let codecBytes = Int(reader.take(UInt16.self))
    let typeBytes = Int(reader.take(UInt16.self))
    let nameBytes = Int(reader.take(UInt32.self))
    identity = reader.take()
    guard reader.take() == sum, number < .max,
      Self.fixedBytes + codecBytes + typeBytes + nameBytes <= bytes.count
    else { throw .damaged(path: path) }
    codec = String(decoding: reader.take(count: codecBytes), as: UTF8.self)
    type = String(decoding: reader.take(count: typeBytes), as: UTF8.self)
    name = String(decoding: reader.take(count: nameBytes), as: UTF8.self)
  }
}
