// Creates directories that only their user can write to.

internal import Glibc

/// A directory of this user, mode 0700, not a symbolic link.
struct PrivateDirectory: Sendable {
  let path: String

  /// Creates the directory and its parents if missing, and checks that it is private.
  init(_ path: String) throws(WormholeError) {
    self.path = path
    try make()
  }

  /// Creates the directory again after somebody removed it.
  func make() throws(WormholeError) {
    if mkdir(path, 0o700) < 0, errno != EEXIST {
      guard errno == ENOENT else { throw .system(code: errno, path: path) }
      try Self.makeAll(above: path)
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw .system(code: errno, path: path)
      }
    }
    try check()
  }

  /// Closes the directory to readers. If others could write to it, nothing in it can be trusted.
  private func check() throws(WormholeError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ELOOP || errno == ENOTDIR || errno == EACCES else {
        throw .system(code: errno, path: path)
      }
      throw .notPrivate(path: path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(code: errno, path: path) }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw .notPrivate(path: path)
    }
    guard status.st_mode & 0o7777 == 0o700 || fchmod(descriptor, 0o700) == 0 else {
      throw .system(code: errno, path: path)
    }
  }

  private static func makeAll(above path: String) throws(WormholeError) {
    // Byte by byte: a slash with a combining mark after it would be one character.
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let parent = String(path[..<end])
    guard !parent.isEmpty, mkdir(parent, 0o700) < 0, errno != EEXIST else { return }
    guard errno == ENOENT else { throw .system(code: errno, path: parent) }
    try makeAll(above: parent)
    guard mkdir(parent, 0o700) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: parent)
    }
  }
}
