// Begins calls in order, as many at a time as there are permits.

internal import DarwinNotifySupport

/// A number of permits. Work that finds none waits for one; all work begins in the order in which
/// it came.
final class Permits: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State {
    var count: Int
    var waiting: [Work] = []
    /// Whether a thread begins work: the others leave theirs to it, so that the order stays.
    var isBusy = false

    /// Takes a permit for the work that has waited longest.
    mutating func next() -> Work? {
      guard !isBusy && count > 0 && !waiting.isEmpty else { return nil }
      isBusy = true
      count -= 1
      return waiting.removeFirst()
    }
  }

  private let state: Locked<State>

  init(_ count: Int) {
    state = Locked(State(count: count))
  }

  /// Runs work with a permit, which must be given back: now, or on the thread that gives one back.
  func take(_ work: @escaping Work) {
    state.withLock { $0.waiting.append(work) }
    begin()
  }

  /// Gives a permit back.
  func give() {
    state.withLock { $0.count += 1 }
    begin()
  }

  private func begin() {
    while let work = state.withLock({ $0.next() }) {
      work()
      state.withLock { $0.isBusy = false }
    }
  }
}
