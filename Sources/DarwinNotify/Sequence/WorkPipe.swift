// Passes pieces of work to the task that runs them.

internal import DarwinNotifySupport
internal import Dispatch

/// A queue of work that one task takes from. Every piece that is added runs once.
final class WorkPipe: Sendable {
  typealias Piece = @Sendable () -> Void

  private struct State {
    var isFinished = false
    var pieces: [Piece] = []
    /// How many of the pieces have been taken.
    var taken = 0

    var isEmpty: Bool { taken == pieces.count }

    mutating func take() -> Piece? {
      guard !isEmpty else { return nil }
      defer { compact() }
      return pieces[taken]
    }

    /// Taken pieces are removed in bulk.
    private mutating func compact() {
      taken += 1
      guard isEmpty || taken >= 1024 && taken > pieces.count / 2 else { return }
      pieces.removeFirst(taken)
      taken = 0
    }
  }

  private let state = Awaited(State())

  /// Adds a piece, which does not run before this returns.
  func add(_ piece: @escaping Piece) {
    let isFinished = state.change { state in
      if !state.isFinished { state.pieces.append(piece) }
      return state.isFinished
    }
    if isFinished { DispatchQueue.global().async(execute: piece) }
  }

  /// Returns the next piece, which the caller has to run, or `nil` once the pipe is finished.
  func next(
    isolation: isolated (any Actor)?, wokenOn executor: (any TaskExecutor)? = nil
  ) async -> Piece? {
    await state.wait(isolation: isolation, wokenOn: executor) { !$0.isEmpty || $0.isFinished }
    return state.change { $0.take() }
  }

  /// Runs the remaining pieces.
  func finish() {
    let left = state.change { state in
      defer { state = State(isFinished: true) }
      return state.pieces.dropFirst(state.taken)
    }
    left.forEach { $0() }
  }
}
