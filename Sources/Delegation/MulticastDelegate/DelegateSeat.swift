// Calls one delegate, one call at a time.

internal import DarwinNotifySupport
internal import Synchronization

/// A delegate at one place: a weak reference, and the calls that wait for it.
///
/// Only one thread at a time is busy with a seat. Other threads leave their calls there and
/// continue, so that no delegate waits for another one and none is called by two threads.
@usableFromInline final class DelegateSeat: Sendable {
  @usableFromInline typealias Call = @Sendable (DelegateReference) -> Void

  /// What the caller has to do.
  @usableFromInline enum Entrance {
    /// Make the call, then ``leave()``.
    case open
    /// Leave the call with ``post(_:)``.
    case busy
    /// Nothing: the delegate has been removed.
    case closed
  }

  /// The bits of the gate. A call in place passes an open gate without the lock; everything else
  /// changes the gate under the lock, together with the state that the lock guards.
  private enum Gate {
    static let open = 0
    /// A thread is busy with the seat, or the seat is scheduled.
    static let busy = 1
    /// Calls are waiting.
    static let hasWaiting = 2
    /// The delegate has been removed.
    static let closed = 4
  }

  private struct State {
    var isScheduled = false
    var waiting: [Call] = []
    /// The number of calls that run alongside the others: asynchronous ones, and those on the
    /// caller's thread.
    var visits = 0
    var departures: [Departure] = []
  }

  /// A wait until no more than this many visits remain.
  private struct Departure {
    let visits: Int
    let promise: Promise<Void>
  }

  @usableFromInline let reference: DelegateReference
  let identity: ObjectIdentifier
  let place: DeliveryPlace
  private let runsInPlace: Bool
  private let gate = Atomic<Int>(Gate.open)
  private let state = Locked(State())

  /// The delegates whose asynchronous methods the task is running.
  @TaskLocal private static var visited: [ObjectIdentifier] = []

  init(_ delegate: some Sendable, at place: DeliveryPlace, inPlace: Bool) {
    reference = DelegateReference(delegate)
    identity = ObjectIdentifier(delegate as AnyObject)
    self.place = place
    runsInPlace = inPlace || place.executor.runsAtOnce
  }

  /// The delegate, if it lives. Do not read it under a lock: the reference may turn out to be the
  /// last one.
  var delegate: AnyObject? { reference.object }

  /// Asks to call the delegate on this thread.
  @usableFromInline func enter() -> Entrance {
    if runsInPlace, place.isCurrent {
      let (isOpen, found) = gate.compareExchange(
        expected: Gate.open, desired: Gate.busy, ordering: .acquiringAndReleasing)
      return isOpen ? .open : found & Gate.closed != 0 ? .closed : .busy
    }
    return isRemoved ? .closed : .busy
  }

  /// Ends a call that ``enter()`` allowed.
  @usableFromInline func leave() {
    let (isFree, _) = gate.compareExchange(
      expected: Gate.busy, desired: Gate.open, ordering: .acquiringAndReleasing)
    if !isFree, rest() { schedule() }
  }

  /// Calls the delegate at its place, after the calls that are already waiting.
  @usableFromInline func post(_ call: @escaping Call) {
    let isFirst = state.withLock { state in
      guard !isRemoved else { return false }
      state.waiting.append(call)
      let old = gate.bitwiseOr(
        Gate.busy | Gate.hasWaiting, ordering: .acquiringAndReleasing
      ).oldValue
      guard old & Gate.busy == 0 else { return false }
      state.isScheduled = true
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
      for call in calls where !isRemoved { call(reference) }
      guard rest() else { return }
    } while place.executor.runsAtOnce
    schedule()
  }

  /// Ends a run. Returns whether calls are waiting; if so, the seat is scheduled.
  private func rest() -> Bool {
    let (isScheduled, departures) = state.withLock { state in
      state.isScheduled = !state.waiting.isEmpty
      if !state.isScheduled {
        gate.bitwiseAnd(~(Gate.busy | Gate.hasWaiting), ordering: .acquiringAndReleasing)
      }
      return (state.isScheduled, takeDepartures(&state))
    }
    for departure in departures { departure.promise.provide(()) }
    return isScheduled
  }

  /// Removes and returns the waits that are over.
  private func takeDepartures(_ state: inout State) -> [Departure] {
    guard !state.departures.isEmpty else { return [] }
    let isBusy = gate.load(ordering: .acquiring) & Gate.busy != 0
    guard !isBusy || state.isScheduled else { return [] }
    let over = state.departures.filter { state.visits <= $0.visits }
    state.departures.removeAll { state.visits <= $0.visits }
    return over
  }
}

extension DelegateSeat {
  var isRemoved: Bool { gate.load(ordering: .acquiring) & Gate.closed != 0 }

  /// Lets no further call start. Waiting calls are dropped.
  func close() {
    let dropped = state.withLock { state in
      gate.bitwiseOr(Gate.closed, ordering: .acquiringAndReleasing)
      return state.waiting.takeAll()
    }
    // Releases everything that the calls hold, without the lock.
    withExtendedLifetime(dropped) {}
  }

  /// Waits until no call is running, except calls on the stack of the calling task.
  func waitUntilIdle() async {
    let own = Self.visited.count { $0 == ObjectIdentifier(self) }
    let promise = Promise<Void>()
    let departures = state.withLock { state in
      state.departures.append(Departure(visits: own, promise: promise))
      return takeDepartures(&state)
    }
    for departure in departures { departure.promise.provide(()) }
    await promise.value()
  }

  /// Begins a call alongside the others, unless the delegate has been removed.
  func beginVisit() -> Bool {
    state.withLock { state in
      guard !isRemoved else { return false }
      state.visits += 1
      return true
    }
  }

  /// Ends a call alongside the others.
  func endVisit() {
    let departures = state.withLock { state in
      state.visits -= 1
      return takeDepartures(&state)
    }
    for departure in departures { departure.promise.provide(()) }
  }

  /// Runs an asynchronous call, and notes that the calling task is in it.
  func visit<Result>(_ body: () async -> Result) async -> Result {
    await Self.$visited.withValue(Self.visited + [ObjectIdentifier(self)]) {
      await withTaskExecutorPreference(place.taskExecutor, operation: body)
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

/// A weak reference to an object that was passed as some protocol.
///
/// Casting an object to a protocol takes as long as the rest of a call. So the reference keeps the
/// bytes of the value it was made from, without owning what they refer to. They are read only while
/// the weak reference says that the object lives.
@usableFromInline final class DelegateReference: Sendable {
  @usableFromInline nonisolated(unsafe) weak let object: AnyObject?
  // It never changes. Delegates are `Sendable`, which `AnyObject` does not express.
  @usableFromInline nonisolated(unsafe) let bytes: UnsafeRawPointer
  // They never change.
  @usableFromInline let type: ObjectIdentifier

  /// Holds an object: a value whose dynamic type is a class.
  init<Delegate>(_ delegate: Delegate) {
    object = delegate as AnyObject
    type = ObjectIdentifier(Delegate.self)
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Delegate>.size, alignment: MemoryLayout<Delegate>.alignment)
    withUnsafeBytes(of: delegate) { value in
      UnsafeMutableRawBufferPointer(start: bytes, count: value.count).copyMemory(from: value)
    }
    self.bytes = UnsafeRawPointer(bytes)
  }

  deinit {
    bytes.deallocate()
  }

  /// The object, if it lives and has the type.
  @inlinable func get<Delegate>(as type: Delegate.Type) -> Delegate? {
    guard let object else { return nil }
    guard self.type == ObjectIdentifier(type) else { return object as? Delegate }
    return withExtendedLifetime(object) {
      bytes.assumingMemoryBound(to: Delegate.self).pointee
    }
  }
}
