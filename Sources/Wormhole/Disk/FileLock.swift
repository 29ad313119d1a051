// Locks files, also between threads.

internal import CLinux
internal import Glibc

/// A locked file, with the descriptor that holds the lock.
///
/// The kernel releases the lock when the process dies, however it dies. The lock belongs to the
/// open file, not to the process, so it excludes other threads too.
struct FileLock: ~Copyable {
  /// The file, open for reading and writing.
  let descriptor: CInt

  private let keeper: DescriptorKeeper?

  /// The process that took the lock. A forked child has no part in it.
  private let process = getpid()

  enum Kind {
    /// Shared with other readers.
    case shared

    /// Held by one thread of one process.
    case exclusive
  }

  /// Locks a file, waiting for others as long as a ``Backoff`` does. An exclusive lock creates the
  /// file.
  ///
  /// A keeper belongs to one file and to exclusive locks.
  init(
    _ kind: Kind, _ path: String, keeper: DescriptorKeeper? = nil,
    timeout: Duration? = nil
  ) throws(WormholeError) {
    self.keeper = keeper
    var backoff = Backoff(timeout: timeout)
    while true {
      let descriptor = if let kept = keeper?.take() { kept } else { try Self.open(path, kind) }
      do throws(WormholeError) {
        try Self.lock(descriptor, kind, &backoff, path)
        if try Self.isStill(descriptor, at: path) {
          self.descriptor = descriptor
          return
        }
      } catch {
        LockDescriptors.close(descriptor)
        throw error
      }
      LockDescriptors.close(descriptor)
    }
  }

  deinit {
    guard process == getpid() else { return }
    // Closing is not enough: a child created meanwhile by `_Fork()` also has the descriptor.
    _ = Self.set(nil, on: descriptor)
    if let keeper { keeper.keep(descriptor) } else { LockDescriptors.close(descriptor) }
  }

  private static func open(_ path: String, _ kind: Kind) throws(WormholeError) -> CInt {
    let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let access = kind == .exclusive ? O_RDWR | O_CREAT : O_RDONLY
    let descriptor = LockDescriptors.open(path, flags | access)
    guard descriptor >= 0 else {
      throw errno == ELOOP ? .foreign(path: path) : .system(code: errno, path: path)
    }
    return descriptor
  }

  private static func lock(
    _ descriptor: CInt, _ kind: Kind, _ backoff: inout Backoff, _ path: String
  ) throws(WormholeError) {
    while !set(kind, on: descriptor) {
      guard errno == EAGAIN || errno == EINTR else { throw .system(code: errno, path: path) }
      guard backoff.wait() else { throw WorkLimit.current?.failure ?? .busy(path: path) }
    }
  }

  /// Sets or, without a kind, releases the lock of an open file, if that is possible at once.
  private static func set(_ kind: Kind?, on descriptor: CInt) -> Bool {
    var lock = flock()
    lock.l_type =
      switch kind {
      case .shared: Int16(F_RDLCK)
      case .exclusive: Int16(F_WRLCK)
      case nil: Int16(F_UNLCK)
      }
    return fcntl(descriptor, CInt(LINUX_F_OFD_SETLK), &lock) == 0
  }

  /// Returns whether a path still leads to the open file: somebody may have moved or removed it.
  private static func isStill(_ descriptor: CInt, at path: String) throws(WormholeError) -> Bool {
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0 else { throw .system(code: errno, path: path) }
    guard opened.isOwnFile else { throw .foreign(path: path) }
    return lstat(path, &named) == 0 && named.st_dev == opened.st_dev
      && named.st_ino == opened.st_ino
  }
}
