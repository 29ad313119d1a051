// Writes the file of a message.

internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The file `*.message`: a header, then the encoded value.
struct MessageFile {
  let path: String

  /// Replaces the message in one step for all readers.
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

  /// Creates the file. A leftover of a killed process is not reused: it may have been the previous
  /// message, which readers may still have mapped.
  private static func create(_ path: String) throws(WormholeError) -> CInt {
    while true {
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor >= 0 { return descriptor }
      guard errno == EEXIST, unlink(path) == 0 || errno == ENOENT else {
        throw .system(code: errno, path: path)
      }
    }
  }

  /// Swaps two files, then removes the old one. When a file replaces another, some file systems
  /// write it to the disk first, which only `durable` asks for.
  private func exchange(with new: String) throws(WormholeError) {
    let flags = UInt32(LINUX_RENAME_EXCHANGE)
    guard renameat2(AT_FDCWD, new, AT_FDCWD, path, flags) == 0 else { return try replace(by: new) }
    guard unlink(new) < 0, errno != ENOENT else { return }
    // Somebody has put a directory there. It goes back.
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

  /// Writes header and payload with one call, without joining them first.
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

  /// Makes the name of the file survive a power loss.
  private func synchronizeDirectory() throws(WormholeError) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let directory = String(path[..<end])
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(code: errno, path: directory) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(code: errno, path: directory) }
  }
}
