// Lends connections to threads.

internal import DarwinNotify
internal import Dispatch
internal import Glibc

/// Some connections to one file, each used by one thread at a time.
final class SQLitePool: Sendable {
  private let path: String
  private let open: @Sendable () throws(WormholeError) -> SQLiteConnection?
  private let capacity: Int
  private let returned = DispatchSemaphore(value: 0)
  private let state = Locked(State())

  /// Makes a pool. Nothing is opened until it is needed.
  ///
  /// - Parameters:
  ///   - path: the file, for errors.
  ///   - capacity: how many connections there are at most.
  ///   - open: opens one, or returns `nil` if there is no file.
  init(
    path: String, capacity: Int,
    open: @escaping @Sendable () throws(WormholeError) -> SQLiteConnection?
  ) {
    self.path = path
    self.capacity = capacity
    self.open = open
  }

  /// Runs a body with a connection whose file is still in its place.
  ///
  /// - Returns: what the body returns, `nil` if there is no file.
  /// - Throws: ``WormholeError/busy(path:)`` if the thread has a connection of this pool already,
  ///   or gets none in time; what the body throws.
  func use<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try SQLiteFile.refuseForkedChild()
    var connection = try borrow()
    defer { giveBack(connection) }
    if connection?.hasMoved != false {
      connection = nil
      connection = try open()
    }
    guard let connection else { return nil }
    return try body(connection)
  }

  /// Waits for its turn. Returns a connection that is open, or `nil` if one has to be opened.
  private func borrow() throws(WormholeError) -> SQLiteConnection? {
    var deadline: DispatchTime?
    while true {
      switch state.withLock({ $0.lend(to: pthread_self(), atMost: capacity) }) {
      case .granted(let connection): return connection
      case .refused: throw .busy(path: path)
      case .later: break
      }
      let end = deadline ?? .now() + .milliseconds(BusyWait.longestMilliseconds)
      deadline = end
      if returned.wait(timeout: end) == .success { continue }
      guard !state.withLock({ $0.giveUp() }) else { throw .busy(path: path) }
      // One was given back just now.
      returned.wait()
    }
  }

  private func giveBack(_ connection: SQLiteConnection?) {
    if state.withLock({ $0.takeBack(connection, from: pthread_self()) }) { returned.signal() }
  }
}

extension SQLitePool {
  /// What can be done when a connection is asked for.
  private enum Loan {
    case granted(SQLiteConnection?)
    case refused
    case later
  }

  private struct State {
    private var idle: [SQLiteConnection] = []
    private var borrowers: [pthread_t] = []
    private var waiting = 0

    /// Lends a connection, unless the thread has one already, or there is none left.
    mutating func lend(to thread: pthread_t, atMost capacity: Int) -> Loan {
      guard !borrowers.contains(thread) else { return .refused }
      guard borrowers.count < capacity else {
        waiting += 1
        return .later
      }
      borrowers.append(thread)
      return .granted(idle.popLast())
    }

    /// Takes a connection back. Returns whether somebody who waits has to be told.
    mutating func takeBack(_ connection: SQLiteConnection?, from thread: pthread_t) -> Bool {
      if let connection, !connection.isInTransaction { idle.append(connection) }
      if let index = borrowers.firstIndex(of: thread) { borrowers.remove(at: index) }
      guard waiting > 0 else { return false }
      waiting -= 1
      return true
    }

    /// Waits no more. Returns false if it has been told just now.
    mutating func giveUp() -> Bool {
      guard waiting > 0 else { return false }
      waiting -= 1
      return true
    }
  }
}
