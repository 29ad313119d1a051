// Passes pieces of work to the task that runs them.

internal import DarwinNotifySupport
internal import Dispatch

/// A queue of work that one task takes from. Every piece that is added runs once.
final class WorkPipe: Sendable {
  typealias Piece = @Sendable () -> Void

  private typealias Continuation = UnsafeContinuation<Piece?, Never>

  private struct State {
    var waiting: Continuation?
    var isFinished = false
    var pieces: [Piece] = []
    /// How many of the pieces have been taken.
    var taken = 0

    mutating func take() -> Piece? {
      guard taken < pieces.count else { return nil }
      defer { compact() }
      return pieces[taken]
    }

    /// What has been taken is removed in bulk.
    private mutating func compact() {
      taken += 1
      guard taken == pieces.count || taken >= 1024 && taken > pieces.count / 2 else { return }
      pieces.removeFirst(taken)
      taken = 0
    }
  }

  private let state = Locked(State())

  /// Adds a piece, which does not run before this returns.
  func add(_ piece: @escaping Piece) {
    let (waiting, isFinished) = state.withLock { state in
      if state.waiting == nil && !state.isFinished { state.pieces.append(piece) }
      return (state.waiting.take(), state.isFinished)
    }
    waiting?.resume(returning: piece)
    if isFinished { DispatchQueue.global().async(execute: piece) }
  }

  /// Returns the next piece, which the caller has to run, or `nil` once the pipe is finished.
  func next(isolation: isolated (any Actor)?) async -> Piece? {
    if let piece = state.withLock({ $0.take() }) { return piece }
    return await withUnsafeContinuation(isolation: isolation) { continuation in
      let (piece, isFinished) = state.withLock { state in
        let piece = state.take()
        if piece == nil && !state.isFinished { state.waiting = continuation }
        return (piece, state.isFinished)
      }
      if piece != nil || isFinished { continuation.resume(returning: piece) }
    }
  }

  /// Runs what is left.
  func finish() {
    let (waiting, left) = state.withLock { state in
      state.isFinished = true
      defer { (state.pieces, state.taken) = ([], 0) }
      return (state.waiting.take(), state.pieces.dropFirst(state.taken))
    }
    left.forEach { $0() }
    waiting?.resume(returning: nil)
  }
}
