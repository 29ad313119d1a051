// Delivers messages to one handler.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Dispatch
internal import Glibc

/// The path of the messages of a name from its mailbox to a handler.
///
/// A change notification wakes it. It then reads the new messages where the handler runs, so that
/// nothing piles up in memory for a slow handler, and no message can overtake another.
final class MessagePump<Value: Codable & Sendable>: Sendable {
  typealias Handler = @Sendable (Wormhole.Message<Value>) -> Void

  private enum Phase {
    /// There is no reader yet. Change notifications need not be remembered: the reader looks
    /// anyway.
    case preparing
    case idle
    case scheduled
    /// A change notification meanwhile asks for another look.
    case running(again: Bool)
    case ended
  }

  private struct State {
    var phase = Phase.preparing
    var reader: MessageReader<Value>?
    var cursor: ReaderCursor?
    var position: MailboxPosition?
    var handler: Handler?
    var thread: pthread_t?
    var successor: PositionHandler?
  }

  private let state = Locked(State())
  private let retry = CoalescingRetry()
  private let executor: DeliveryExecutor
  private let senders: Wormhole.Senders
  private let runs = DispatchGroup()

  /// The number of messages that are delivered before others on the same executor get their turn.
  private static var batchSize: Int { 16 }

  init(
    from senders: Wormhole.Senders, on delivery: Delivery, _ handler: @escaping Handler
  ) {
    executor = DeliveryExecutor(to: delivery)
    self.senders = senders
    state.withLock { $0.handler = handler }
  }

  /// The cursor, until the end. It is set as soon as it is open.
  var cursor: ReaderCursor? {
    get { state.withLock { $0.cursor } }
    set { state.withLock { $0.cursor = newValue } }
  }

  /// Begins to deliver the messages of a reader. If the pump has ended meanwhile, its successor
  /// begins where this pump would have begun.
  func begin(_ reader: MessageReader<Value>) {
    let successor = state.withLock { state -> PositionHandler? in
      guard case .preparing = state.phase else { return state.successor.take() }
      state.reader = reader
      state.position = reader.position
      state.phase = .idle
      return nil
    }
    if let successor { successor(reader.position) } else { wake() }
  }

  /// Delivers new messages soon.
  func wake() {
    let mustSchedule = state.withLock { state in
      switch state.phase {
      case .preparing, .scheduled, .ended: return false
      case .idle:
        state.phase = .scheduled
        return true
      case .running:
        state.phase = .running(again: true)
        return false
      }
    }
    if mustSchedule { schedule() }
  }

  /// Delivers no more. A handler may still be running for the last message.
  ///
  /// - Parameter successor: gets the position after that message: now, or, if this pump has not
  ///   begun, once it is known.
  func end(then successor: PositionHandler? = nil) {
    let (position, remains) = state.withLock { state in
      let isPreparing = if case .preparing = state.phase { true } else { false }
      // A pump that never began must still hand on the position of its predecessor.
      if isPreparing { state.successor = successor }
      state.phase = .ended
      let remains = (state.reader.take(), state.cursor.take(), state.handler.take())
      return (isPreparing ? nil : state.position, remains)
    }
    if let position { successor?(position) }
    // Releasing them runs user code and closes files, so no lock is held.
    withExtendedLifetime(remains) {}
  }

  /// Waits until the handler is not running, unless it is the caller.
  func waitUntilIdle() {
    let isOwnThread = state.withLock { state in
      state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
    if !isOwnThread { runs.wait() }
  }
}

extension MessagePump {
  private func schedule() {
    executor.enqueue { self.run() }
  }

  private func run() {
    guard let reader = takeReader() else { return }
    deliver(consume reader)
    // The waiting thread may now open the cursor: the reader has released it. On a concurrent queue
    // the next run may have begun: its thread stays.
    state.withLock { state in
      guard case .ended = state.phase, let thread = state.thread else { return }
      if pthread_equal(thread, pthread_self()) != 0 { state.thread = nil }
    }
    runs.leave()
  }

  /// Delivers messages until there are no more, or others get their turn.
  private func deliver(_ reader: consuming MessageReader<Value>) {
    reader.look()
    var count = 0
    repeat {
      while count < Self.batchSize, let message = reader.next() {
        guard deliver(message, of: &reader) else { return }
        count += 1
      }
      count = 0
    } while rest(&reader)
  }

  /// Takes the reader for a run, unless the pump has ended.
  private func takeReader() -> MessageReader<Value>? {
    state.withLock { state in
      guard case .scheduled = state.phase else { return nil }
      runs.enter()
      state.phase = .running(again: false)
      state.thread = pthread_self()
      return state.reader.take()
    }
  }

  /// Calls the handler, unless the pump has ended. Returns whether it has not.
  private func deliver(
    _ message: Wormhole.Message<Value>, of reader: inout MessageReader<Value>
  ) -> Bool {
    let handler = state.withLock { state in
      state.position?.advance(to: message.sequence, in: reader.position.identity)
      return state.handler
    }
    guard let handler else { return false }
    if senders.include(message) { handler(message) }
    reader.acknowledge(message.sequence)
    return true
  }

  /// Puts the reader back after a batch. Returns whether to continue at once.
  private func rest(_ reader: inout MessageReader<Value>) -> Bool {
    let next = state.withLock { state -> Phase in
      guard case .running(let again) = state.phase else { return state.phase }
      if again { reader.look() }
      if reader.hasMore, executor.runsAtOnce {
        state.phase = .running(again: false)
      } else {
        // Others on the same executor get their turn in between.
        state.phase = reader.hasMore ? .scheduled : .idle
        state.reader = reader
        state.thread = nil
      }
      return state.phase
    }
    switch next {
    case .scheduled: schedule()
    // The cause of a failure may go away without a change notification.
    case .idle: if reader.shouldRetry { retry.later { [weak self] in self?.wake() } }
    case .running: return true
    case .preparing, .ended: break
    }
    return false
  }
}
