// Writes and reads the file of a message.

internal import Foundation

/// The file `*.message`: a header, then the bytes that the codec made.
struct MessageFile {
  let path: String

  /// What is read, as it is used: small messages are copied, large ones stay in the file.
  private static let mostCopiedBytes = 256 << 10

  // MARK: - Writing

  /// Puts a message in the place of the one before, at once for all who read.
  ///
  /// The caller holds the lock of the mailbox, so that nobody else writes the temporary file, and
  /// one that a process left behind when it was killed is used again.
  func write(
    _ header: MessageHeader, _ payload: Data, durable: Bool
  ) throws(WormholeError) {
    let temporary = "\(path).new"
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let descriptor = open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw .system(code: errno, path: temporary) }
    let failure = Self.fill(descriptor, try header.encoded(), payload, durable: durable)
    close(descriptor)
    guard failure == 0, rename(temporary, path) == 0 else {
      let code = failure == 0 ? errno : failure
      unlink(temporary)
      throw .system(code: code, path: path)
    }
    if durable { try synchronizeDirectory() }
  }

  /// Removes the message, if there is one.
  func remove(durable: Bool) throws(WormholeError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .system(code: errno, path: path) }
    if durable { try synchronizeDirectory() }
  }

  /// Writes header and payload in one go, without putting them together first.
  private static func fill(
    _ descriptor: CInt, _ header: [UInt8], _ payload: Data, durable: Bool
  ) -> CInt {
    header.withUnsafeBytes { header in
      payload.withUnsafeBytes { payload in
        var rest = [header, payload]
        while let first = rest.first {
          let vectors = rest.map {
            iovec(iov_base: .init(mutating: $0.baseAddress), iov_len: $0.count)
          }
          var n =
            first.isEmpty && rest.count == 1 ? 0 : writev(descriptor, vectors, CInt(rest.count))
          guard n >= 0 else {
            if errno == EINTR { continue }
            return errno
          }
          while let first = rest.first, n >= first.count {
            n -= first.count
            rest.removeFirst()
          }
          if let first = rest.first { rest[0] = .init(rebasing: first[n...]) }
        }
        return durable && fdatasync(descriptor) < 0 ? errno : 0
      }
    }
  }

  /// Makes the name of the file survive a loss of power.
  private func synchronizeDirectory() throws(WormholeError) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let directory = String(path[..<end])
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(code: errno, path: directory) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(code: errno, path: directory) }
  }

  // MARK: - Reading

  /// Returns the header of the message, or `nil` if there is none.
  func readHeader() throws(WormholeError) -> MessageHeader? {
    try withFile { (descriptor, size) throws(WormholeError) in
      try Self.readHeader(descriptor, size, path).header
    }
  }

  /// Returns the message, or `nil` if there is none.
  func read() throws(WormholeError) -> (header: MessageHeader, payload: Data)? {
    try withFile { (descriptor, size) throws(WormholeError) in
      let (header, headerBytes) = try Self.readHeader(descriptor, size, path)
      guard header.payloadBytes == UInt64(size - headerBytes) else {
        throw .damaged(path: path)
      }
      let payload = try Self.readPayload(descriptor, headerBytes, size, path)
      guard payload.withUnsafeBytes({ checksum($0) }) == header.payloadChecksum else {
        throw .damaged(path: path)
      }
      return (header, payload)
    }
  }

  private func withFile<Result>(
    _ body: (_ descriptor: CInt, _ size: Int) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result? {
    // Not blocking: a pipe of that name would wait for somebody to write.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw errno == ELOOP ? .foreign(path: path) : .system(code: errno, path: path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(code: errno, path: path) }
    guard status.isOwnFile else { throw .foreign(path: path) }
    let size = Int(status.st_size)
    guard size <= MessageLimits.payloadBytes + MessageHeader.mostBytes else {
      throw .tooLarge(bytes: size, limit: MessageLimits.payloadBytes)
    }
    return try body(descriptor, size)
  }

  private static func readHeader(
    _ descriptor: CInt, _ size: Int, _ path: String
  ) throws(WormholeError) -> (header: MessageHeader, bytes: Int) {
    // Headers are seldom longer: a second call is the exception.
    var bytes = [UInt8](repeating: 0, count: min(size, 512))
    try bytes.fill(from: descriptor, at: 0, path)
    let headerBytes = try bytes.span.bytes.withUnsafeBytes { (bytes) throws(WormholeError) in
      try MessageHeader.size(from: bytes, path: path)
    }
    guard headerBytes <= size else { throw .damaged(path: path) }
    if headerBytes > bytes.count {
      bytes = [UInt8](repeating: 0, count: headerBytes)
      try bytes.fill(from: descriptor, at: 0, path)
    }
    let header = try bytes.span.bytes.withUnsafeBytes { (bytes) throws(WormholeError) in
      try MessageHeader(parsing: .init(rebasing: bytes[..<headerBytes]), path: path)
    }
    return (header, headerBytes)
  }

  private static func readPayload(
    _ descriptor: CInt, _ offset: Int, _ end: Int, _ path: String
  ) throws(WormholeError) -> Data {
    guard end - offset > mostCopiedBytes else {
      var bytes = [UInt8](repeating: 0, count: end - offset)
      try bytes.fill(from: descriptor, at: offset, path)
      return Data(bytes)
    }
    // The file is never written again once it has its name, so what is mapped stays as it is.
    guard let pages = mmap(nil, end, PROT_READ, MAP_PRIVATE, descriptor, 0), pages != MAP_FAILED
    else { throw .system(code: errno, path: path) }
    return Data(
      bytesNoCopy: pages + offset, count: end - offset,
      deallocator: .custom { _, _ in munmap(pages, end) })
  }
}

extension [UInt8] {
  /// Fills the array with what stands in a file, which has to be long enough.
  fileprivate mutating func fill(
    from descriptor: CInt, at offset: Int, _ path: String
  ) throws(WormholeError) {
    var span = mutableSpan
    try span.withUnsafeMutableBytes { (bytes) throws(WormholeError) in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
        let n = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        if n < 0, errno == EINTR { continue }
        guard n >= 0 else { throw .system(code: errno, path: path) }
        guard n > 0 else { throw .damaged(path: path) }
        done += n
      }
    }
  }
}
