// Delivers the changes of a value to one handler.

internal import DarwinNotify
internal import DarwinNotifySupport

/// Takes the changes of a value from the file to a handler.
///
/// A change notification wakes it. It then reads the value where the handler runs, so that nothing
/// piles up for a slow handler.
final class DefaultsPump<Value: Codable & Sendable>: Sendable {
  typealias Handler = @Sendable (SharedDefaults.Change<Value>) -> Void

  private struct State {
    /// `nil` after the end.
    var handler: Handler?
    var position: Int64
    var isInitial: Bool

    /// Whether it waits for its turn, or runs.
    var isScheduled = false

    /// Whether there may be something new.
    var isAwake = false
    var lastError: WormholeError?
  }

  private let key: DefaultsKey<Value>
  private let defaults: SharedDefaults
  private let executor: DeliveryExecutor
  private let state: Locked<State>
  private let retry = CoalescingRetry()

  /// Creates a pump for the changes after a number; `nil` begins with the current value.
  init(
    _ key: DefaultsKey<Value>, in defaults: SharedDefaults, after position: Int64?,
    on delivery: Delivery, _ handler: @escaping Handler
  ) {
    self.key = key
    self.defaults = defaults
    executor = DeliveryExecutor(to: delivery)
    state = Locked(State(handler: handler, position: position ?? 0, isInitial: position == nil))
  }

  /// Looks for a change soon.
  func wake() {
    let mustSchedule = state.withLock { state in
      guard state.handler != nil else { return false }
      state.isAwake = true
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { executor.enqueue { self.run() } }
  }

  /// Stops delivering.
  func end() {
    let handler = state.withLock { $0.handler.take() }
    // Releasing it runs user code, so no lock is held.
    withExtendedLifetime(handler) {}
  }

  private func run() {
    repeat { look() } while rest()
  }

  /// Whether to look again at once. Others on the same executor get their turn in between.
  private func rest() -> Bool {
    let isAwake = state.withLock { state in
      state.isScheduled = state.isAwake && state.handler != nil
      return state.isScheduled
    }
    if isAwake, !executor.runsAtOnce { executor.enqueue { self.run() } }
    return isAwake && executor.runsAtOnce
  }

  /// Delivers the change, if there is one.
  private func look() {
    let (position, inAnyCase) = state.withLock { state in
      state.isAwake = false
      return (state.position, state.isInitial || state.lastError != nil)
    }
    do throws(WormholeError) {
      let found = try defaults.readHere { (table) throws(WormholeError) in
        try DefaultsNews.change(of: key.name, after: position, inAnyCase: inAnyCase, in: table)
      }
      guard let (row, position) = found else { return }
      let change = SharedDefaults.Change(key, try row?.entry.get())
      deliver(change, position)
    } catch {
      fail(error)
    }
  }

  private func deliver(_ change: SharedDefaults.Change<Value>, _ position: Int64) {
    let handler = state.withLock { state in
      (state.position, state.isInitial, state.lastError) = (position, false, nil)
      return state.handler
    }
    handler?(change)
  }

  /// Reports an error once, and tries again if it may pass.
  private func fail(_ error: WormholeError) {
    let handler = state.withLock { state in
      defer { state.lastError = error }
      return state.lastError == error ? nil : state.handler
    }
    handler?(SharedDefaults.Change(error))
    if error.mayPass { retry.later { [weak self] in self?.wake() } }
  }
}
