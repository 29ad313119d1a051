// Recognises the files of this user.

internal import Glibc

extension stat {
  /// Whether it is a regular file of this user.
  var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() }
}
