// Lends connections to one thread at a time.

internal import DarwinNotifySupport
internal import Dispatch
internal import Glibc

/// The connections of this process to one file: one that writes, and a few that read.
///
/// All objects in a process that use the same file share them.
final class StoreLanes: Sendable {
  let id: FileID
  let writer: StoreLane
  let readers: StoreLane
  private let path: String
  private let process = getpid()

  private init(_ id: FileID, _ file: some SQLiteFile) {
    (self.id, path) = (id, file.path)
    writer = StoreLane(file.path, capacity: 1) { (wait) throws(WormholeError) in
      guard try file.id() == id else { return nil }
      let connection = try file.openForWriting(wait)
      connection.file = id
      return connection
    }
    readers = StoreLane(file.path, capacity: file.readerCount) { (wait) throws(WormholeError) in
      guard try file.id() == id else { return nil }
      let connection = try file.openForReading(wait)
      connection?.file = id
      return connection
    }
  }

  /// Runs a body with a connection once one is free. Returns `nil` if there is nothing to read, or
  /// another file is at the path.
  ///
  /// - Throws: ``WormholeError/nested`` if the thread already uses a connection to the file.
  func use<Value>(
    _ lane: KeyPath<StoreLanes, StoreLane>, _ wait: Backoff,
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try check()
    return try self[keyPath: lane].use(wait, body)
  }

  /// Closes the connections, and runs a body before others are opened.
  ///
  /// The body may exchange the file. SQLite opens the log by its name, only when a connection runs
  /// its first statement: in between, the log of another file could take that name.
  ///
  /// - Throws: ``WormholeError/nested`` if the thread uses a connection to the file.
  func whileClosed(_ body: () throws(WormholeError) -> Void) throws(WormholeError) {
    try check()
    let wait = Backoff()
    writer.close(wait)
    readers.close(wait)
    defer {
      writer.reopen()
      readers.reopen()
    }
    try body()
  }

  private func check() throws(WormholeError) {
    guard process == getpid() else {
      throw .database(
        code: sqliteMisuse, message: "this process was forked from one that uses \(path)")
    }
    guard !writer.isUsedHere, !readers.isUsedHere else { throw .nested(path: path) }
  }

  private struct Weak {
    weak var lanes: StoreLanes?
  }

  /// A file at a path. Without a connection that has it open, the file may have been removed, and
  /// its number may belong to another one by now: the number alone would lead to the wrong path.
  private struct Place: Hashable {
    let id: FileID
    let path: String
    let kind: ObjectIdentifier
  }

  private static let all = Locked<[Place: Weak]>([:])

  /// Returns the connections to a file.
  static func find<File: SQLiteFile>(_ id: FileID, _ file: File) -> StoreLanes {
    let place = Place(id: id, path: file.path, kind: ObjectIdentifier(File.self))
    return all.withLock { all in
      if let lanes = all[place]?.lanes { return lanes }
      all = all.filter { $0.value.lanes != nil }
      let lanes = StoreLanes(id, file)
      all[place] = Weak(lanes: lanes)
      return lanes
    }
  }
}

/// A few connections of one kind, each used by one thread at a time.
final class StoreLane: Sendable {
  private struct State {
    var idle: [SQLiteConnection] = []
    var users: [pthread_t] = []
    var waiting = 0
  }

  private enum Turn {
    case now(SQLiteConnection?)
    case later
  }

  private let path: String
  private let capacity: Int
  private let open: @Sendable (Backoff) throws(WormholeError) -> SQLiteConnection?
  private let state = Locked(State())
  private let returned = DispatchSemaphore(value: 0)

  init(
    _ path: String, capacity: Int,
    open: @escaping @Sendable (Backoff) throws(WormholeError) -> SQLiteConnection?
  ) {
    self.path = path
    self.capacity = capacity
    self.open = open
  }

  /// Whether the thread uses one of the connections.
  var isUsedHere: Bool { state.withLock { $0.users.contains(pthread_self()) } }

  /// Runs a body with a connection once one is free. Returns `nil` if there is nothing to read.
  func use<Value>(
    _ wait: Backoff, _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    let idle = try take(wait)
    var connection = idle
    defer { giveBack(connection) }
    if let idle {
      idle.begin(wait)
    } else {
      connection = try open(wait)
    }
    guard let connection else { return nil }
    do throws(WormholeError) {
      return try body(connection)
    } catch .busy {
      throw .busy(path: path, holder: LockHolder.describe(of: path))
    }
  }

  /// Takes all connections and closes them, until ``reopen()``. One that is not returned in time
  /// stays with its thread, which has already opened all files.
  func close(_ wait: Backoff) {
    for _ in 0..<capacity { _ = try? take(wait) }
  }

  func reopen() {
    for _ in 0..<capacity { giveBack(nil) }
  }

  private func take(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection? {
    if let failure = wait.limit?.failure { throw failure }
    while true {
      switch state.withLock({ turn(&$0) }) {
      case .now(let connection): return connection
      case .later: break
      }
      let isReturned = returned.wait(timeout: wait.nextLook(within: Self.longestPause)) == .success
      if !isReturned { giveUp() }
      if wait.limit?.failure != nil || !isReturned && wait.isOver {
        // The connection that this thread was woken for may be free.
        wakeNext()
        throw wait.limit?.failure ?? .busy(path: path, holder: "another thread of this process")
      }
    }
  }

  /// A task may have been cancelled meanwhile.
  private static let longestPause = Duration.milliseconds(20)

  private func turn(_ state: inout State) -> Turn {
    guard state.users.count < capacity else {
      state.waiting += 1
      return .later
    }
    state.users.append(pthread_self())
    return .now(state.idle.popLast())
  }

  /// Stops waiting, unless a connection was just returned.
  private func giveUp() {
    let isWoken = state.withLock { state in
      guard state.waiting > 0 else { return true }
      state.waiting -= 1
      return false
    }
    if isWoken { returned.wait() }
  }

  private func giveBack(_ connection: SQLiteConnection?) {
    let thread = pthread_self()
    state.withLock { state in
      state.users.removeAll { $0 == thread }
      if let connection, !connection.isInTransaction { state.idle.append(connection) }
    }
    wakeNext()
  }

  private func wakeNext() {
    let mustWake = state.withLock { state in
      guard state.waiting > 0 else { return false }
      state.waiting -= 1
      return true
    }
    if mustWake { returned.signal() }
  }
}
