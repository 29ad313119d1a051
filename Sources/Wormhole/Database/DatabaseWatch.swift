// Notices that any program has changed a database.

internal import DarwinNotify
internal import Synchronization

/// The notifications of commits, combined with changes to the file by other programs.
final class DatabaseWatch: ObservedRegistration {
  private let commits: NotificationObservation
  private let files: [NotifyToken]

  /// Calls a handler, which must not block, after changes to a file as well: they are written to
  /// the log beside it and later to the file.
  init(
    of path: String, _ commits: NotificationObservation, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) {
    self.commits = commits
    let look = DatabaseLook(at: path, handler)
    do {
      files = try ["", "-wal"].map { suffix in
        // The token alone keeps it, until it ends.
        let token = try NotifyToken("wormhole.file", on: .thread) { _ in look.begin() }
        try token.monitorFile(path + suffix, for: [.write, .create, .delete, .rename])
        return token
      }
    } catch {
      throw .notification(error)
    }
  }

  func cancel() {
    commits.cancel()
    for file in files { file.cancel() }
  }

  func waitUntilIdle() {  // unreachable: only sequences hold a watch, and none waits for it
    commits.cancelAndWait()
  }
}

/// Calls a handler, and again later if somebody is writing: a commit becomes visible a moment
/// after it is in the file.
private final class DatabaseLook: Sendable {
  private let path: String
  private let handler: @Sendable () -> Void
  private let isPending = Atomic<Bool>(false)

  init(at path: String, _ handler: @escaping @Sendable () -> Void) {
    (self.path, self.handler) = (path, handler)
  }

  func begin() {
    if LockHolder.describe(of: path) != nil,
      !isPending.exchange(true, ordering: .sequentiallyConsistent)
    {
      Retry.later { [weak self] in
        self?.isPending.store(false, ordering: .sequentiallyConsistent)
        self?.begin()
      }
    }
    handler()
  }
}
