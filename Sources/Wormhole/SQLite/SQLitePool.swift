// Lends connections to threads.

internal import DarwinNotify
internal import Dispatch
internal import Glibc

/// Some connections to one file, each used by one thread at a time.
final class SQLitePool: Sendable {
  private let path: String
  private let open: @Sendable () throws(WormholeError) -> SQLiteConnection?
  private let free: DispatchSemaphore
  private let state = Locked(State())

  private struct State {
    var idle: [SQLiteConnection] = []
    var borrowers: [pthread_t] = []
  }

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
    self.open = open
    free = DispatchSemaphore(value: capacity)
  }

  /// Runs a body with a connection whose file is still in its place.
  ///
  /// - Returns: what the body returns, `nil` if there is no file.
  /// - Throws: ``WormholeError/busy(path:)`` if the thread has a connection of this pool already,
  ///   or gets none in time; what the body throws.
  func use<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try borrow()
    var connection = state.withLock { $0.idle.popLast() }
    defer { giveBack(connection) }
    if connection?.hasMoved != false {
      connection = nil
      connection = try open()
    }
    guard let connection else { return nil }
    return try body(connection)
  }

  private func borrow() throws(WormholeError) {
    let thread = pthread_self()
    guard !state.withLock({ $0.borrowers.contains(thread) }) else { throw .busy(path: path) }
    let timeout = DispatchTime.now() + .milliseconds(BusyWait.longestMilliseconds)
    guard free.wait(timeout: timeout) == .success else { throw .busy(path: path) }
    state.withLock { $0.borrowers.append(thread) }
  }

  private func giveBack(_ connection: SQLiteConnection?) {
    let thread = pthread_self()
    state.withLock { state in
      if let connection, !connection.isInTransaction { state.idle.append(connection) }
      if let index = state.borrowers.firstIndex(of: thread) { state.borrowers.remove(at: index) }
    }
    free.signal()
  }
}
