// Keeps the messages of many names in one file.

package import DarwinNotify
internal import DarwinNotifySupport

/// A file with cursors and records, each of which belongs to a name.
///
/// All functions may be called by any number of threads and processes. They run on the calling
/// thread, which waits; ``run(_:timeout:_:)`` runs one of them on a thread of the store.
///
/// They throw ``WormholeError``: `busy` names the process that was writing for too long; `damaged`
/// means that only ``startAnew()`` helps.
package final class MessageStore: Sendable {
  let connections: StoreConnections<StoreFile>

  /// The center that carries the change notifications.
  package let center: DarwinNotificationCenter

  let queues: StoreQueues

  /// Creates a store. Its file is created when something is written.
  ///
  /// - Parameters:
  ///   - name: the name of the file.
  ///   - directory: its directory, which is created if missing.
  ///   - post: the Darwin name that is posted after changes, at most 255 bytes. If it ends in a
  ///     dot, the name of the message follows it.
  ///   - center: the center for these posts.
  package init(
    _ name: String, in directory: String, post: String, center: DarwinNotificationCenter
  ) {
    let file = StoreFile(directory: directory, name: name, post: post)
    (connections, queues) = (StoreConnections(to: file), StoreQueues(of: file))
    self.center = center
  }

  var file: StoreFile { connections.file }

  /// The file.
  package var path: String { file.path }

  /// Its directory.
  package var directory: String { file.directory }

  /// The maximum length of the name of a message or a cursor, in bytes.
  package static let maxNameBytes = 255

  /// The purpose of a call.
  package enum Access: Sendable {
    case reading
    case writing
  }

  /// Runs a job that calls functions of this store, on a thread where it may block. Jobs that write
  /// run one after the other, in the order of their calls.
  ///
  ///     let number = try await store.run(.writing, timeout: timeout) { limit in
  ///       try store.pass(draft, to: "org.example.level", within: limit)
  ///     }
  ///
  /// - Parameters:
  ///   - access: whether the job writes.
  ///   - timeout: how long it may take, including the wait for its turn; `nil` waits ten seconds
  ///     for other writers.
  ///   - job: the job, with the limit for the functions that it calls. When the task is cancelled
  ///     or the time is up, a running statement is interrupted.
  /// - Returns: what the job returns.
  /// - Throws: what the job throws, `cancelled`, `timedOut`.
  package func run<Value: Sendable>(
    _ access: Access, timeout: Duration? = nil,
    _ job: @escaping @Sendable (WorkLimit) throws(WormholeError) -> Value
  ) async throws(WormholeError) -> Value {
    let queue = access == .writing ? queues.writing : queues.reading
    return try await queue.run(on: path, timeout: timeout) { limit in
      Result { () throws(WormholeError) in try job(limit) }
    }.get()
  }

  /// Runs a job on a thread of the store in its turn, for code that does not wait.
  package func enqueue(_ access: Access, _ job: @escaping @Sendable () -> Void) {
    (access == .writing ? queues.writing : queues.reading).submit(job)
  }

  // MARK: Connections

  /// Runs a body as a writing transaction, and creates the file if it is missing. Then posts the
  /// change notifications of the names that have changed.
  package func write<Value>(
    within limit: WorkLimit?, isDurable: Bool = false,
    announcing names: (Value) -> [String] = { _ in [] },
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    var isCheckpointDue = false
    let value = try connections.use(\.writer, within: limit, makes: true) {
      (connection) throws(WormholeError) in
      try connection.limitStoreLog()
      if isDurable { try connection.run("PRAGMA synchronous = FULL") }
      defer { if isDurable { try? connection.executeInAnyCase("PRAGMA synchronous = NORMAL") } }
      let value = try connection.retryingWhenLogIsEmptied { () throws(WormholeError) in
        try connection.storeTransaction { () throws(WormholeError) in
          try connection.checkStoreSchema()
          return try body(connection)
        }
      }
      isCheckpointDue = connection.isCheckpointDue
      return value
    }
    guard let value else { throw .damaged(path: path) }
    defer { if isCheckpointDue { checkpoint() } }
    try announce(names(value))
    return value
  }

  /// Runs a body that sees one state of the store. Returns `nil` if there is none.
  func read<Value>(
    within limit: WorkLimit?, _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try connections.use(\.readers, within: limit) { (connection) throws(WormholeError) in
      try connection.run("BEGIN")
      defer { try? connection.executeInAnyCase("ROLLBACK") }
      try connection.checkStoreSchema()
      return try body(connection)
    }
  }
}
