// Lists directories and writes to descriptors.

internal import Glibc

/// The entries of a directory, without `.` and `..`; none if it cannot be read.
package func directoryEntries(of directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}

/// Writes bytes to a descriptor, which may not block; waits until they are written.
///
/// - Returns: 0, or the error number that stopped it.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> CInt {
  var rest = bytes
  while !rest.isEmpty {
    let n = write(descriptor, rest.baseAddress, rest.count)
    if n >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[n...])
    } else if errno == EAGAIN {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&waiting, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}
