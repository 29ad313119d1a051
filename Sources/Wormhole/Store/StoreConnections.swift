// Finds the connections to a file.

internal import DarwinNotifySupport

/// The connections to the file found at a path at the time of a call.
final class StoreConnections<File: SQLiteFile>: Sendable {
  let file: File
  private let lanes = Locked<StoreLanes?>(nil)

  init(to file: File) {
    self.file = file
  }

  /// Lends a connection to a body.
  ///
  /// - Parameters:
  ///   - lane: the kind of connection.
  ///   - limit: how long it may take.
  ///   - makes: whether to create the file if it is missing.
  ///   - body: what to do. It must not use the file through another connection of this process.
  /// - Returns: what the body returns; `nil` if there is no file, or nothing in it to read.
  /// - Throws: ``WormholeError/nested`` in the body of another call; what the body throws.
  func use<Value>(
    _ lane: KeyPath<StoreLanes, StoreLane>, within limit: WorkLimit?, makes: Bool = false,
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    let wait = Backoff(limit: limit)
    while true {
      guard let id = try file.id() else {
        guard makes else { return nil }
        try file.make()
        continue
      }
      if let value = try find(id).use(lane, wait, body) { return value }
      // The file may have been moved away before it was opened.
      guard try file.id() != id else { return nil }
    }
  }

  private func find(_ id: FileID) -> StoreLanes {
    let (found, old) = lanes.withLock { lanes in
      let old = lanes
      let found = if let old, old.id == id { old } else { StoreLanes.find(id, file) }
      lanes = found
      return (found, old)
    }
    // Connections to a replaced file are not closed under the lock.
    withExtendedLifetime(old) {}
    return found
  }

  /// Runs a body that moves the file away, while no thread of this process uses or opens it. Does
  /// nothing if there is no file, or another thread has just moved it.
  func withoutConnections(_ body: () throws(WormholeError) -> Void) throws(WormholeError) {
    let id: FileID?
    do throws(WormholeError) {
      id = try file.id()
    } catch {
      // No thread opens a file that is not ours.
      return try body()
    }
    guard let id else { return }
    try StoreLanes.find(id, file).whileClosed { () throws(WormholeError) in
      if try file.id() == id { try body() }
    }
  }
}
