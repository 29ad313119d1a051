// Calls one delegate, one call at a time.

internal import DarwinNotifySupport

/// A delegate at one place, and the calls that wait for it.
///
/// Only one thread at a time is busy with a seat. Other threads leave their calls there and
/// continue, so that no delegate waits for another one and none is called by two threads.
@usableFromInline final class DelegateSeat: Sendable {
  @usableFromInline typealias Call = @Sendable () -> Void

  private struct State {
    var isRemoved = false
    /// A thread is busy with the seat, or the seat is scheduled.
    var isBusy = false
    var isScheduled = false
    var waiting: [Call] = []
    /// The number of calls that run alongside the others: asynchronous ones, and those on the
    /// caller's thread.
    var visits = 0
    var departures: [Departure] = []
  }

  /// A wait until no more than this many visits remain.
  private typealias Departure = (visits: Int, promise: Promise<Void>)

  private let identity: ObjectIdentifier?
  private let place: DeliveryPlace
  private let state = Locked(State())

  /// The seats whose asynchronous calls the task is running.
  @TaskLocal private static var visited: [ObjectIdentifier] = []

  /// Seats an object, or a value without identity.
  init(of object: AnyObject?, at place: DeliveryPlace) {
    identity = object.map { ObjectIdentifier($0) }
    self.place = place
  }

  /// Whether it is the seat of a live object, at a given place or at any.
  func belongs(to object: AnyObject, at place: DeliveryPlace?) -> Bool {
    identity == ObjectIdentifier(object) && (place == nil || self.place == place)
  }

  /// Whether both seats belong to the same live object, at the same place.
  func equals(_ other: DelegateSeat) -> Bool {
    identity != nil && identity == other.identity && place == other.place
  }

  /// Begins a call on this thread, which must ``leave()``. Returns false if the call must be
  /// left to ``post(_:)``.
  @usableFromInline func enter() -> Bool {
    guard place.executor.runsAtOnce else { return false }
    return state.withLock { state in
      guard !state.isBusy, !state.isRemoved else { return false }
      state.isBusy = true
      return true
    }
  }

  /// Ends a call that ``enter()`` allowed.
  @usableFromInline func leave() {
    if rest() { schedule() }
  }

  /// Calls the delegate at its place, after the calls that are already waiting. A delegate that has
  /// been removed is not called.
  @usableFromInline func post(_ call: @escaping Call) {
    let isFirst = state.withLock { state in
      guard !state.isRemoved else { return false }
      state.waiting.append(call)
      guard !state.isBusy else { return false }
      (state.isBusy, state.isScheduled) = (true, true)
      return true
    }
    if isFirst { schedule() }
  }

  private func schedule() {
    place.executor.enqueue { self.run() }
  }

  /// Makes the waiting calls. Others at the same place get their turn before calls that arrive
  /// meanwhile.
  private func run() {
    repeat {
      let calls = state.withLock { state in
        state.isScheduled = false
        return state.waiting.takeAll()
      }
      for call in calls where !isRemoved { call() }
      guard rest() else { return }
    } while place.executor.runsAtOnce
    schedule()
  }

  /// Ends a run. Returns whether calls are waiting; if so, the seat is scheduled.
  private func rest() -> Bool {
    change { state in
      state.isScheduled = !state.waiting.isEmpty
      state.isBusy = state.isScheduled
      return state.isScheduled
    }
  }

  /// Changes the state, then ends the waits that are over.
  @discardableResult private func change<Result: Sendable>(_ body: (inout State) -> Result)
    -> Result
  {
    let (result, over) = state.withLock { state in
      let result = body(&state)
      guard !state.departures.isEmpty, !state.isBusy || state.isScheduled else {
        return (result, [Departure]())
      }
      let over = state.departures.filter { state.visits <= $0.visits }
      state.departures.removeAll { state.visits <= $0.visits }
      return (result, over)
    }
    for departure in over { departure.promise.provide(()) }
    return result
  }
}

extension DelegateSeat {
  private var isRemoved: Bool { state.withLock { $0.isRemoved } }

  /// Lets no further call start. Waiting calls are dropped.
  func close() {
    let dropped = state.withLock { state in
      state.isRemoved = true
      return state.waiting.takeAll()
    }
    // Releases everything that the calls hold, without the lock.
    withExtendedLifetime(dropped) {}
  }

  /// Waits until no call is running, except calls on the stack of the calling task.
  func waitUntilIdle() async {
    let own = Self.visited.count { $0 == ObjectIdentifier(self) }
    let promise = Promise<Void>()
    change { $0.departures.append((own, promise)) }
    await promise.value()
  }

  /// Begins a call alongside the others, unless the delegate has been removed.
  @usableFromInline func beginVisit() -> Bool {
    state.withLock { state in
      guard !state.isRemoved else { return false }
      state.visits += 1
      return true
    }
  }

  /// Ends a call alongside the others.
  @usableFromInline func endVisit() {
    change { $0.visits -= 1 }
  }

  /// Runs an asynchronous call, and notes that the calling task is in it.
  func visit<Result>(_ body: () async -> Result) async -> Result {
    await Self.$visited.withValue(Self.visited + [ObjectIdentifier(self)]) {
      await withTaskExecutorPreference(place.taskExecutor, operation: body)
    }
  }

  /// Waits until a call in turn provides a value; `nil` if it does not, or the task is cancelled.
  func wait<Value: Sendable>(
    for call: @escaping @Sendable (Duty<Value?>) -> Void
  ) async -> Value? {
    let promise = Promise<Value?>()
    return await withTaskCancellationHandler {
      do {
        let duty = Duty(to: promise, orElse: nil)
        post { call(duty) }
      }
      return await promise.value()
    } onCancel: {
      promise.provide(nil)
    }
  }
}

extension Array {
  /// Empties the array and returns its elements.
  fileprivate mutating func takeAll() -> [Element] {
    defer { self = [] }
    return self
  }
}
