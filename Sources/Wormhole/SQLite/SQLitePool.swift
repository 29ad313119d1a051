// Lends connections to threads.

internal import DarwinNotifySupport
internal import Dispatch
internal import Glibc

/// A few connections to one file, each used by one thread at a time.
final class SQLitePool: Sendable {
  private let path: String
  private let open: @Sendable (Backoff) throws(WormholeError) -> SQLiteConnection?
  private let capacity: Int
  private let jobs: WorkQueue
  private let idle: IdleConnections
  private let returned = DispatchSemaphore(value: 0)
  private let state = Locked(State())

  /// Creates a pool. Connections are opened when they are needed.
  ///
  /// - Parameters:
  ///   - path: the file, for errors.
  ///   - capacity: the largest number of connections.
  ///   - idle: keeps the unused connections.
  ///   - open: opens a connection with the waits of a call, or returns `nil` if there is no file.
  init(
    path: String, capacity: Int, idle: IdleConnections,
    open: @escaping @Sendable (Backoff) throws(WormholeError) -> SQLiteConnection?
  ) {
    self.path = path
    self.capacity = capacity
    self.open = open
    self.idle = idle
    jobs = WorkQueue(width: capacity)
  }

  deinit {
    idle.close(of: ObjectIdentifier(self))
  }

  /// Runs a job that uses connections of the pool on a thread where it may block, once a connection
  /// is likely to be free.
  ///
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``.
  func run<Value: Sendable>(
    timeout: Duration? = nil, _ job: @escaping @Sendable () -> Value
  ) async throws(WormholeError) -> Value {
    try await jobs.run(on: path, timeout: timeout, job)
  }

  /// Runs a body with a connection whose file is still at its path.
  ///
  /// - Returns: what the body returns, `nil` if there is no file.
  /// - Throws: ``WormholeError/busy`` if the thread already uses a connection of the pool,
  ///   or gets none in time; what the body throws.
  func use<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try SQLiteFile.refuseForkedChild()
    let wait = Backoff()
    try waitForTurn(until: wait.deadline)
    var connection = idle.take(for: ObjectIdentifier(self))
    defer { giveBack(connection) }
    if connection?.hasMoved != false {
      if let moved = connection.take() {
        moved.rescueLog()
        // Connections of a process to one file use one shared memory until the last is closed.
        idle.close(moved.path)
      }
      connection = try open(wait)
    } else {
      connection?.begin(wait)
    }
    guard let connection else { return nil }
    guard let limit = WorkLimit.current else { return try body(connection) }
    return try limit.with(interrupt: { connection.interrupt() }) { () throws(WormholeError) in
      try body(connection)
    }
  }

  /// Waits until fewer threads than the capacity use a connection.
  private func waitForTurn(until deadline: ContinuousClock.Instant) throws(WormholeError) {
    while true {
      try WorkLimit.check()
      switch state.withLock({ $0.lend(to: pthread_self(), atMost: capacity) }) {
      case .granted: return
      case .refused: throw .busy(path: path)
      case .later: break
      }
      // It looks now and then whether the time is up, or the work was cancelled.
      if returned.wait(timeout: .now() + Self.secondsBetweenLooks) == .success { continue }
      if state.withLock({ $0.giveUp() }) {
        try WorkLimit.check()
        guard .now < deadline else { throw .busy(path: path) }
      } else {
        // A connection was just returned.
        returned.wait()
      }
    }
  }

  private static let secondsBetweenLooks = 0.02

  private func giveBack(_ connection: SQLiteConnection?) {
    if let connection, !connection.isInTransaction {
      idle.keep(connection, for: ObjectIdentifier(self))
    }
    if state.withLock({ $0.takeBack(from: pthread_self()) }) { returned.signal() }
  }
}

extension SQLitePool {
  private enum Loan {
    case granted
    case refused
    case later
  }

  private struct State {
    private var borrowers: [pthread_t] = []
    private var waiting = 0

    /// Lets a thread use a connection, unless it already has one, or none is left.
    mutating func lend(to thread: pthread_t, atMost capacity: Int) -> Loan {
      guard !borrowers.contains(thread) else { return .refused }
      guard borrowers.count < capacity else {
        waiting += 1
        return .later
      }
      borrowers.append(thread)
      return .granted
    }

    /// Takes a connection back. Returns whether to wake a waiting thread.
    mutating func takeBack(from thread: pthread_t) -> Bool {
      if let index = borrowers.firstIndex(of: thread) { borrowers.remove(at: index) }
      guard waiting > 0 else { return false }
      waiting -= 1
      return true
    }

    /// Stops waiting. Returns false if the thread has just been woken.
    mutating func giveUp() -> Bool {
      guard waiting > 0 else { return false }
      waiting -= 1
      return true
    }
  }
}
