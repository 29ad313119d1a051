// Keeps connections open between two uses.

internal import DarwinNotifySupport

/// The idle connections of one pool, or of several that share a limit.
///
/// A program may have more logs than a process may have open files. The least recently used
/// connection is closed, and opened again when needed.
final class IdleConnections: Sendable {
  private struct Kept {
    let owner: ObjectIdentifier
    let connection: SQLiteConnection
  }

  /// The idle connections of all logs of the process.
  static let ofLogs = IdleConnections(limit: maxLogCount)

  /// A connection has up to three files open.
  private static let maxLogCount = 24

  private let limit: Int

  /// The most recently used one is last.
  private let kept = Locked<[Kept]>([])

  init(limit: Int) {
    self.limit = limit
  }

  /// Returns a connection of a pool, which is then no longer idle.
  func take(for owner: ObjectIdentifier) -> SQLiteConnection? {
    kept.withLock { kept in
      kept.lastIndex { $0.owner == owner }.map { kept.remove(at: $0).connection }
    }
  }

  /// Keeps a connection of a pool.
  func keep(_ connection: SQLiteConnection, for owner: ObjectIdentifier) {
    let oldest = kept.withLock { kept in
      kept.append(Kept(owner: owner, connection: connection))
      return kept.count > limit ? kept.removeFirst() : nil
    }
    // Files are not closed under a lock.
    withExtendedLifetime(oldest) {}
  }

  /// Closes the connections of a pool.
  func close(of owner: ObjectIdentifier) {
    close { $0.owner == owner }
  }

  /// Closes the connections to a file.
  func close(_ path: String) {
    close { $0.connection.path == path }
  }

  private func close(where isDropped: (Kept) -> Bool) {
    let dropped = kept.withLock { kept in
      let dropped = kept.filter(isDropped)
      kept.removeAll(where: isDropped)
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }
}
