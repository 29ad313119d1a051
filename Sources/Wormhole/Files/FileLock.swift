// Lets one process at a time, in it one thread, work on a file.

internal import CLinux
internal import Foundation

/// A lock on a file, with the descriptor that holds it.
///
/// The kernel lets go of it when the process dies, however it dies. It belongs to the open file,
/// not to the process, so that it excludes other threads too.
struct FileLock: ~Copyable {
  /// The file, open to be read and written.
  let descriptor: CInt

  private let keeper: DescriptorKeeper?

  enum Kind {
    /// Beside others that read.
    case shared

    /// Alone.
    case exclusive
  }

  /// Locks a file, which is made if the lock is exclusive. Waits for others up to a time limit.
  ///
  /// A keeper, if there is one, is for one file and exclusive locks alone.
  init(
    _ kind: Kind, _ path: String, keeper: DescriptorKeeper? = nil,
    timeout: Duration = Self.patience
  ) throws(WormholeError) {
    self.keeper = keeper
    let deadline = ContinuousClock.now + timeout
    while true {
      let descriptor = if let kept = keeper?.take() { kept } else { try Self.open(path, kind) }
      do throws(WormholeError) {
        try Self.wait(for: descriptor, kind, until: deadline, path)
        if try Self.isThere(descriptor, path) {
          self.descriptor = descriptor
          return
        }
      } catch {
        close(descriptor)
        throw error
      }
      close(descriptor)
    }
  }

  deinit {
    // Not left to `close`: a child that was forked meanwhile has the descriptor too.
    _ = Self.lock(descriptor, nil)
    if let keeper { keeper.keep(descriptor) } else { close(descriptor) }
  }

  /// Nobody who is running needs as long: what is done under the lock is a matter of milliseconds,
  /// but for a large message on a slow disk. It is a process that was stopped.
  static let patience = Duration.seconds(10)

  /// In microseconds: a lock is held shorter than a thread takes to wake up.
  private static let longestPause: UInt32 = 2000

  private static func open(_ path: String, _ kind: Kind) throws(WormholeError) -> CInt {
    let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let access = kind == .exclusive ? O_RDWR | O_CREAT : O_RDONLY
    let descriptor = Foundation.open(path, flags | access, 0o600)
    guard descriptor >= 0 else {
      throw errno == ELOOP ? .foreign(path: path) : .system(code: errno, path: path)
    }
    return descriptor
  }

  private static func wait(
    for descriptor: CInt, _ kind: Kind, until deadline: ContinuousClock.Instant, _ path: String
  ) throws(WormholeError) {
    var pause: UInt32 = 20
    while !lock(descriptor, kind) {
      guard errno == EAGAIN || errno == EINTR else { throw .system(code: errno, path: path) }
      guard ContinuousClock.now < deadline else { throw .busy(path: path) }
      usleep(UInt32.random(in: pause / 2...pause))
      pause = min(pause * 2, longestPause)
    }
  }

  /// Changes the lock of an open file: of which kind, or none.
  private static func lock(_ descriptor: CInt, _ kind: Kind?) -> Bool {
    var lock = flock()
    lock.l_type =
      switch kind {
      case .shared: Int16(F_RDLCK)
      case .exclusive: Int16(F_WRLCK)
      case nil: Int16(F_UNLCK)
      }
    return fcntl(descriptor, CInt(LINUX_F_OFD_SETLK), &lock) == 0
  }

  /// Tells whether the file is still the one of that name: somebody may have moved or removed its
  /// directory meanwhile.
  private static func isThere(_ descriptor: CInt, _ path: String) throws(WormholeError) -> Bool {
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0 else { throw .system(code: errno, path: path) }
    guard opened.isOwnFile else { throw .foreign(path: path) }
    return lstat(path, &named) == 0 && named.st_dev == opened.st_dev
      && named.st_ino == opened.st_ino
  }
}

extension stat {
  /// Tells whether it is an ordinary file, and nobody else wrote it.
  var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() }
}
