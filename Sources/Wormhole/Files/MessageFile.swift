// Writes the file of a message.

internal import CLinux
internal import Foundation

/// The file `*.message`: a header, then the bytes that the codec made.
struct MessageFile {
  let path: String

  /// Puts a message in the place of the one before, at once for all who read.
  ///
  /// The caller holds the lock of the mailbox, so that nobody else writes the new file.
  func write(_ header: [UInt8], _ payload: Data, durable: Bool) throws(WormholeError) {
    let new = "\(path).new"
    let descriptor = try Self.create(new)
    let failure = Self.fill(descriptor, header, payload, durable: durable)
    close(descriptor)
    guard failure == 0 else {
      unlink(new)
      throw .system(code: failure, path: path)
    }
    try durable ? replace(by: new) : exchange(with: new)
    if durable { try synchronizeDirectory() }
  }

  /// Makes a file of its own. One that was left by a process that was killed may be in use by
  /// readers, as it may have been the message before.
  private static func create(_ path: String) throws(WormholeError) -> CInt {
    while true {
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor >= 0 { return descriptor }
      guard errno == EEXIST, unlink(path) == 0 || errno == ENOENT else {
        throw .system(code: errno, path: path)
      }
    }
  }

  /// Lets two files change places, then removes the old one: some file systems write a file that
  /// takes the place of another to the disk first, which here only `durable` asks for.
  private func exchange(with new: String) throws(WormholeError) {
    let flags = UInt32(LINUX_RENAME_EXCHANGE)
    guard renameat2(AT_FDCWD, new, AT_FDCWD, path, flags) == 0 else { return try replace(by: new) }
    guard unlink(new) < 0, errno != ENOENT else { return }
    // It was a directory, which somebody else has put there. It goes back.
    let code = errno
    _ = renameat2(AT_FDCWD, new, AT_FDCWD, path, flags)
    unlink(new)
    throw .system(code: code, path: path)
  }

  private func replace(by new: String) throws(WormholeError) {
    guard rename(new, path) == 0 else {
      let code = errno
      unlink(new)
      throw .system(code: code, path: path)
    }
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
}
