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
    var id = try file.id()
    if id == nil, makes { id = try file.make() }
    guard let id else { return nil }
    let (lanes, old) = lanes.withLock { lanes in
      let old = lanes
      if lanes?.id != id { lanes = StoreLanes.find(id, file) }
      return (lanes, old)
    }
    // Connections to a replaced file are not closed under the lock.
    withExtendedLifetime(old) {}
    return try lanes?.use(lane, Backoff(limit: limit), body)
  }

  /// Forgets the connections.
  func forget() {
    let old = lanes.withLock { $0.take() }
    withExtendedLifetime(old) {}
  }
}
