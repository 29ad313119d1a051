// Delivers stored elements to one handler.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Dispatch
internal import Glibc

/// The path of elements from a store to a handler.
///
/// After a change notification it reads a page on a thread of the store, which then goes to where
/// the handler runs. While the handler is busy, one page is in memory. With a cursor, each element
/// is acknowledged on a thread of the store before the handler gets the next one.
final class StoredPump<Element: Sendable>: StoredDelivery {
  typealias Handler = @Sendable (Element) -> Void

  private enum Phase {
    /// There is no reader yet, which will look anyway.
    case preparing
    case idle
    case reading
    case delivering
    case acknowledging
    /// It waits to try again.
    case resting
    case ended
  }

  private struct State {
    var phase = Phase.preparing
    var reader: (any StoredReader<Element>)?
    var handler: Handler?
    var registration: NotificationObservation?
    var page = StoredPage<Element>()

    /// Whether a change notification has come since the last page was read.
    var hasChanged = true

    /// Whether the current page is delivered even if it is stale: it has replaced another stale
    /// one, or its first elements were delivered.
    var keepsPage = false

    /// The position after the last element that was delivered; `nil` before the beginning.
    var delivered: StoredPosition?

    /// The position after the element that was handled, until it is stored.
    var handled: StoredPosition?

    /// Why the last attempt to read or to acknowledge failed.
    var failure: WormholeError?

    var thread: pthread_t?
    var successor: (@Sendable (StoredPosition) -> Void)?
  }

  private let state = Locked(State())
  private let queues: StoreQueues
  private let executor: DeliveryExecutor

  /// Each run has let go of the reader and the cursor when it leaves.
  private let runs = DispatchGroup()

  /// The number of elements that are delivered before others on the same executor get their turn.
  private static var turn: Int { 16 }

  /// Creates a pump, which waits for its reader.
  init(
    of feed: StoredFeed<Element>, on delivery: Delivery, _ handler: @escaping Handler
  ) throws(WormholeError) {
    executor = DeliveryExecutor(to: delivery)
    queues = feed.queues
    let registration = try feed.observe { [weak self] in self?.wake() }
    state.withLock { ($0.handler, $0.registration) = (handler, registration) }
  }

  /// The cursor, until the end.
  var cursor: StoreCursor? { state.withLock { $0.reader?.cursor } }

  /// Keeps a reader, and so its cursor, until ``begin(after:)``. The time until then is a run.
  func prepare(_ reader: any StoredReader<Element>) {
    runs.enter()
    state.withLock { $0.reader = reader }
  }

  /// Begins to deliver the elements of the prepared reader, where a predecessor has stopped.
  func begin(after position: StoredPosition) {
    do {
      let reader = state.withLock { $0.reader }?.following(position)
      begin(reader, at: reader?.position ?? position)
    }
    runs.leave()
  }

  /// Begins to deliver the elements of a reader.
  func begin(_ reader: any StoredReader<Element>) {
    begin(reader, at: reader.position)
  }

  /// If the pump has ended meanwhile, its successor begins where this pump would have begun.
  private func begin(_ reader: (any StoredReader<Element>)?, at position: StoredPosition) {
    let successor = state.withLock { state -> (@Sendable (StoredPosition) -> Void)? in
      state.delivered = position
      guard state.phase == .preparing else { return state.successor.take() }
      (state.reader, state.phase) = (reader, .idle)
      return nil
    }
    if let successor { successor(position) } else { wake() }
  }

  /// Soon reads new elements.
  private func wake() {
    perform(
      state.withLock { state in
        state.hasChanged = true
        return state.phase == .idle ? step(&state) : .none
      })
  }

  func cancel() {
    end(then: nil)
  }

  /// Delivers no more. A handler may still be running for the last element.
  ///
  /// - Parameter successor: gets the position after that element, once that is handled; if this
  ///   pump has not begun, once it is known.
  func end(then successor: (@Sendable (StoredPosition) -> Void)?) {
    let (position, remains) = state.withLock { state in
      let remains = (state.reader.take(), state.handler.take(), state.registration.take())
      // A pump that has not begun must still pass on the position of its predecessor.
      if state.delivered == nil, let successor { state.successor = successor }
      (state.phase, state.page) = (.ended, StoredPage())
      return (state.delivered, remains)
    }
    remains.2?.cancel()
    if let position, let successor { afterRuns { successor(position) } }
    // Releasing them runs user code and closes files, so no lock is held.
    withExtendedLifetime(remains) {}
  }

  /// Runs work once neither the handler nor a read nor an acknowledgement runs: at once, or later
  /// on another thread.
  func afterRuns(_ work: @escaping @Sendable () -> Void) {
    guard runs.wait(timeout: .now()) == .timedOut else { return work() }
    runs.notify(queue: .global(), execute: work)
  }

  /// Waits until neither the handler nor a read runs, unless the handler is the caller.
  func waitUntilIdle() {
    let isOwnThread = state.withLock { state in
      state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
    if !isOwnThread { runs.wait() }
  }
}

/// A pump as its observation and its successor see it.
protocol StoredDelivery: AnyObject, ObservedRegistration {
  var cursor: StoreCursor? { get }
  func end(then successor: (@Sendable (StoredPosition) -> Void)?)
  func afterRuns(_ work: @escaping @Sendable () -> Void)
}

// MARK: - Steps

extension StoredPump {
  private enum Step {
    case none, read, deliver, retry
    /// Counts as a run from when it is decided, and takes the cursor out of the box.
    case acknowledge(StoredPosition, Locked<StoreCursor?>)
  }

  /// Decides what comes next, when no step is under way.
  private func step(_ state: inout State) -> Step {
    guard state.phase != .ended else { return .none }
    // After an element that could not be acknowledged, only errors are delivered.
    if let next = state.page.elements.first, state.handled == nil || next.number == 0 {
      state.phase = .delivering
      return .deliver
    }
    guard state.failure?.mayPass != true else {
      state.phase = .resting
      return .retry
    }
    return attempt(&state)
  }

  /// Decides what to do when there is nothing to deliver.
  private func attempt(_ state: inout State) -> Step {
    if let handled = state.handled, let cursor = state.reader?.cursor {
      state.phase = .acknowledging
      runs.enter()
      return .acknowledge(handled, Locked(cursor))
    }
    guard state.hasChanged || state.page.hasMore else {
      state.phase = .idle
      return .none
    }
    state.phase = .reading
    return .read
  }

  private func perform(_ step: Step) {
    switch step {
    case .none: break
    case .read: queues.reading.submit { self.read() }
    case .deliver: executor.enqueue { self.deliver() }
    case .acknowledge(let handled, let cursor):
      queues.writing.submit { self.acknowledge(handled, in: cursor) }
    // The cause of a failure may go away without a change notification.
    case .retry: Retry.later { [weak self] in self?.tryAgain() }
    }
  }

  private func tryAgain() {
    perform(
      state.withLock { state in
        guard state.phase == .resting else { return .none }
        state.hasChanged = true
        return attempt(&state)
      })
  }

  private func read() {
    guard let next = readPage() else { return }
    runs.leave()
    perform(next)
  }

  /// Reads a page as a run. Returns what comes next, `nil` if the pump has ended.
  private func readPage() -> Step? {
    let found = state.withLock { state -> (any StoredReader<Element>)? in
      guard state.phase == .reading else { return nil }
      state.hasChanged = false
      runs.enter()
      return state.reader
    }
    guard var reader = found else { return nil }
    return keep(Result { try reader.read(within: nil) }, of: reader)
  }

  /// Keeps what was read, of which the caller keeps nothing. Returns what comes next.
  private func keep(
    _ result: Result<StoredPage<Element>, any Error>, of reader: any StoredReader<Element>
  ) -> Step {
    state.withLock { state in
      guard state.phase == .reading else { return .none }
      state.reader = reader
      switch result {
      case .success(let page): (state.page, state.failure) = (page, nil)
      case .failure(let error):
        // It is read again after a change, or later if the error may pass.
        state.page.hasMore = false
        note(error as? WormholeError ?? .decoding("\(error)"), in: &state)
      }
      return step(&state)
    }
  }

  private func deliver() {
    guard let next = deliverElements() else { return }
    perform(next)
    runs.leave()
  }

  /// Delivers elements as a run until there are no more, or others get their turn. Returns what
  /// comes next, `nil` if nothing was to be delivered.
  private func deliverElements() -> Step? {
    guard let cursor = beginTurn() else { return nil }
    var count = 0
    while count < Self.turn, let (handler, element) = takeElement() {
      if let element { handler(element) }
      count = cursor == nil ? count + 1 : Self.turn
    }
    return state.withLock { state -> Step in
      state.thread = nil
      guard state.phase == .ended, let handled = state.handled, let cursor else {
        return step(&state)
      }
      runs.enter()
      return .acknowledge(handled, Locked(cursor))
    }
  }

  /// Begins to deliver a page, unless it is stale. Returns the cursor, if there is one.
  private func beginTurn() -> StoreCursor?? {
    let (cursor, next) = state.withLock { state -> (StoreCursor??, Step) in
      guard state.phase == .delivering, let reader = state.reader else { return (nil, .none) }
      if reader.readsNewest, state.hasChanged, !state.keepsPage, state.failure == nil {
        state.reader?.goBack()
        (state.page, state.keepsPage) = (StoredPage(hasMore: true), true)
        return (nil, step(&state))
      }
      state.thread = pthread_self()
      runs.enter()
      return (.some(reader.cursor), .none)
    }
    perform(next)
    return cursor
  }

  private func takeElement() -> (Handler, Element?)? {
    state.withLock { state in
      guard let handler = state.handler, let reader = state.reader,
        let (number, element) = state.page.elements.popFirst()
      else { return nil }
      state.keepsPage = !state.page.elements.isEmpty
      // An error has no number.
      guard number > 0 else { return (handler, element) }
      let position = StoredPosition(number: number, identity: reader.position.identity)
      if let delivered = state.delivered, delivered.isComparable(to: position) {
        state.delivered?.number = max(delivered.number, number)
        state.delivered?.identity = position.identity
      } else {
        state.delivered = position
      }
      if reader.cursor != nil { state.handled = position }
      return (handler, element)
    }
  }

  /// Stores that an element was handled, even if the handler is not called again.
  private func acknowledge(_ handled: StoredPosition, in box: Locked<StoreCursor?>) {
    let result = Result { () throws(WormholeError) in
      try box.withLock { $0.take() }?.advance(to: handled)
    }
    let next = state.withLock { state in
      switch result {
      case .success: (state.handled, state.failure) = (nil, nil)
      case .failure(let error): note(error, in: &state)
      }
      return step(&state)
    }
    runs.leave()
    guard case .deliver = next else { return perform(next) }
    // A handler that is called at once may wait for another reader's acknowledgement.
    queues.reading.submit { self.perform(next) }
  }

  /// Reports an error to the handler, once.
  private func note(_ error: WormholeError, in state: inout State) {
    if state.failure != error, let element = state.reader?.element(for: error) {
      state.page.elements.insert((0, element), at: state.page.elements.startIndex)
    }
    state.failure = error
  }
}
