// Reads the file of a message.

internal import FoundationEssentials
internal import Glibc

extension MessageFile {
  /// The part that is read first: all of a small message, the header of a large one.
  private static let firstBytes = 4096

  /// Larger messages are mapped instead of copied.
  private static let maxCopiedBytes = 256 << 10

  /// Returns the header of the message, or `nil` if there is none.
  func readHeader() throws(WormholeError) -> MessageHeader? {
    try withFile { (descriptor, size) throws(WormholeError) in
      try readBeginning(of: descriptor, size).header
    }
  }

  /// Returns the message, or `nil` if there is none after a number.
  func read(after number: UInt64) throws(WormholeError) -> (header: MessageHeader, payload: Data)? {
    try withFile { (descriptor, size) throws(WormholeError) in
      let (header, headerBytes, beginning) = try readBeginning(of: descriptor, size)
      guard header.number > number else { return nil }
      guard header.payloadBytes == UInt64(size - headerBytes) else {
        throw .damaged(path: path)
      }
      let payload =
        if beginning.count == size {
          Data(beginning[headerBytes...])
        } else {
          try readPayload(of: descriptor, from: headerBytes, to: size)
        }
      guard payload.withUnsafeBytes({ checksum($0) }) == header.payloadChecksum else {
        throw .damaged(path: path)
      }
      return (header, payload)
    } ?? nil
  }

  private func withFile<Result>(
    _ body: (_ descriptor: CInt, _ size: Int) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result? {
    // Not blocking: opening a pipe of that name would wait for a writer.
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
    guard size <= MessageLimits.payloadBytes + MessageHeader.maxBytes else {
      throw .tooLarge(bytes: size, limit: MessageLimits.payloadBytes)
    }
    return try body(descriptor, size)
  }

  private func readBeginning(
    of descriptor: CInt, _ size: Int
  ) throws(WormholeError) -> (header: MessageHeader, headerBytes: Int, bytes: [UInt8]) {
    var bytes = try read(descriptor, from: 0, count: min(size, Self.firstBytes))
    let headerBytes = try bytes.span.bytes.withUnsafeBytes { (bytes) throws(WormholeError) in
      try MessageHeader.size(from: bytes, path: path)
    }
    guard headerBytes <= size else { throw .damaged(path: path) }
    if headerBytes > bytes.count { bytes = try read(descriptor, from: 0, count: headerBytes) }
    let header = try bytes.span.bytes.withUnsafeBytes { (bytes) throws(WormholeError) in
      try MessageHeader(parsing: .init(rebasing: bytes[..<headerBytes]), path: path)
    }
    return (header, headerBytes, bytes)
  }

  private func readPayload(
    of descriptor: CInt, from offset: Int, to end: Int
  ) throws(WormholeError) -> Data {
    guard end - offset > Self.maxCopiedBytes else {
      return Data(try read(descriptor, from: offset, count: end - offset))
    }
    // A file is never written again once it has its name, so mapped bytes do not change.
    guard let pages = mmap(nil, end, PROT_READ, MAP_PRIVATE, descriptor, 0), pages != MAP_FAILED
    else { throw .system(code: errno, path: path) }
    return Data(
      bytesNoCopy: pages + offset, count: end - offset,
      deallocator: .custom { _, _ in munmap(pages, end) })
  }

  /// Reads a part of a file, which has to be that long.
  private func read(
    _ descriptor: CInt, from offset: Int, count: Int
  ) throws(WormholeError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    try span.withUnsafeMutableBytes { (bytes) throws(WormholeError) in
      var done = 0
      while done < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
        let n = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        if n < 0, errno == EINTR { continue }
        guard n >= 0 else { throw .system(code: errno, path: path) }
        guard n > 0 else { throw .damaged(path: path) }
        done += n
      }
    }
    return bytes
  }
}

extension MessageFile {
  /// Returns the names of the messages in a directory.
  ///
  /// Foreign files do not count, whatever they are called. A damaged message counts, under the name
  /// that its file name stands for.
  static func names(in directory: String) throws(WormholeError) -> [String] {
    guard let stream = opendir(directory) else {
      guard errno == ENOENT else { throw .system(code: errno, path: directory) }
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let file = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let name = try name(of: file, in: directory) { names.append(name) }
    }
    return names
  }

  private static func name(
    of file: String, in directory: String
  ) throws(WormholeError) -> String? {
    guard file.hasSuffix(FileSuffix.message) else { return nil }
    let fileName = FileName(text: String(file.dropLast(FileSuffix.message.count)))
    do throws(WormholeError) {
      let header = try MessageFile(path: "\(directory)/\(file)").readHeader()
      // A copy under another file name is not the message.
      return header.flatMap { FileName(for: $0.name) == fileName ? $0.name : nil }
    } catch {
      switch error {
      case .system, .diskFull: throw error
      case .damaged: return fileName.original
      default: return nil
      }
    }
  }
}
