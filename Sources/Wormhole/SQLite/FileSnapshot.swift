// Recognises whether a file has changed.

internal import Glibc

/// What a database looks like from outside, where it cannot be written. Somebody else may write it
/// by another way, and then it looks different.
struct FileSnapshot: Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var size = 0

  /// Whether there is a write-ahead log, which belongs to the contents.
  let hasLog: Bool

  init(of path: String) {
    var status = stat()
    if stat(path, &status) == 0 {
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
      size = Int(status.st_size)
    }
    hasLog = stat(path + "-wal", &status) == 0 && status.st_size > 0
  }
}
