// Provides the directories of the user.

internal import Glibc

/// A directory of this user that nobody else can write, and not a symbolic link. One that is made
/// has mode 0700.
package struct PrivateDirectory: Sendable {
  let path: String

  /// Creates the directory and its parents if missing, and checks that it is private.
  package init(_ path: String) throws(WormholeError) {
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

  /// If others could write to the directory, nothing in it could be trusted. What others may read
  /// is up to the user: the files in it are the user's alone.
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

/// The directories that the XDG Base Directory Specification has for the files of a user.
enum UserDirectories {
  /// The directory for data that stays. A relative path in the environment is ignored.
  static var data: String {
    absolute("XDG_DATA_HOME") ?? "\(home)/.local/share"
  }

  private static var home: String {
    absolute("HOME") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) } ?? "/"
  }

  private static func absolute(_ variable: String) -> String? {
    guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else {
      return nil
    }
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension stat {
  /// Whether it is a regular file of this user.
  var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() }
}
