// Hands messages to one handler, one after the other.

internal import DarwinNotify
internal import Dispatch
internal import Foundation

/// The way of the messages of a name from its mailbox to a handler.
///
/// The bell wakes it. It then reads what is new where the handler runs, so that nothing waits in
/// memory for a slow handler, and no message can overtake another.
final class MessagePump<Value: Codable & Sendable>: Sendable {
  private enum Phase {
    /// The reader is not there yet. A ring meanwhile is remembered.
    case preparing
    case idle
    case scheduled
    /// A ring meanwhile asks for one more look.
    case running(again: Bool)
    case ended
  }

  private struct State {
    var phase = Phase.preparing
    var reader: MessageReader<Value>?
    var place = MailboxPlace(number: 0, identity: 0)
    var handler: (@Sendable (Message<Value>) -> Void)?
    var thread: pthread_t?
    var isToTryAgain = false
  }

  private let state = Locked(State())
  private let lane: DeliveryLane
  private let senders: Senders
  private let runs = DispatchGroup()

  /// How many messages are handled before others get their turn at the same place.
  private static var batch: Int { 16 }

  init(
    from senders: Senders, on delivery: Delivery,
    _ handler: @escaping @Sendable (Message<Value>) -> Void
  ) {
    lane = DeliveryLane(to: delivery)
    self.senders = senders
    state.withLock { $0.handler = handler }
  }

  /// Takes over the reader. From now on the pump has a place.
  func prepare(_ reader: MessageReader<Value>) {
    state.withLock { state in
      guard case .preparing = state.phase else { return }
      state.reader = reader
      state.place = reader.place
      state.phase = .idle
    }
  }

  /// Looks for messages soon.
  func wake() {
    let isToBeScheduled = state.withLock { state in
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
    if isToBeScheduled { schedule() }
  }

  /// Delivers no more. Returns the place behind the last message that was delivered, for which a
  /// handler may still be running; `nil` if it never began.
  @discardableResult func end() -> MailboxPlace? {
    let (place, reader, handler) = state.withLock { state in
      let hasBegun = if case .preparing = state.phase { false } else { true }
      state.phase = .ended
      return (hasBegun ? state.place : nil, state.reader.take(), state.handler.take())
    }
    // What they hold, a cursor for one, is let go here, without the lock.
    withExtendedLifetime((reader, handler)) {}
    return place
  }

  /// Waits until the handler is not running, but not for itself.
  func waitUntilIdle() {
    let isOwnThread = state.withLock { state in
      state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
    if !isOwnThread { runs.wait() }
  }

  private func schedule() {
    lane.enqueue { self.run() }
  }

  private func run() {
    guard var reader = begin() else { return }
    defer {
      state.withLock { if case .ended = $0.phase { $0.thread = nil } }
      runs.leave()
    }
    while true {
      if let initial = reader.takeInitial(), !deliver(initial, of: reader) { return }
      let messages = reader.next(limit: Self.batch)
      for message in messages {
        guard deliver(message, of: reader) else { return }
      }
      guard rest(reader) else { return }
    }
  }

  /// Takes the reader for a run, unless the end has come.
  private func begin() -> MessageReader<Value>? {
    state.withLock { state in
      guard case .scheduled = state.phase else { return nil }
      runs.enter()
      state.phase = .running(again: false)
      state.thread = pthread_self()
      return state.reader.take()
    }
  }

  /// Hands over a message, unless the end has come. Returns whether it has not.
  private func deliver(_ message: Message<Value>, of reader: MessageReader<Value>) -> Bool {
    let handler = state.withLock { state in
      state.place.advance(to: message.sequence, in: reader.place.identity)
      return state.handler
    }
    guard let handler else { return false }
    if senders.include(message) { handler(message) }
    reader.acknowledge(message.sequence)
    return true
  }

  /// Puts the reader back after a batch. Returns whether to go on at once.
  private func rest(_ reader: MessageReader<Value>) -> Bool {
    let next = state.withLock { state -> Phase in
      guard case .running(let again) = state.phase else { return state.phase }
      let hasMore = again || !reader.isAtEnd
      if hasMore, lane.runsAtOnce {
        state.phase = .running(again: false)
      } else {
        // Others at the same place have their turn in between.
        state.phase = hasMore ? .scheduled : .idle
        state.reader = reader
        state.thread = nil
      }
      return state.phase
    }
    if case .scheduled = next { schedule() }
    if case .idle = next, reader.isToTryAgain { tryAgain() }
    if case .running = next { return true }
    return false
  }

  /// Looks again soon: what prevents reading may pass without a ring.
  private func tryAgain() {
    let isFirst = state.withLock { state in
      defer { state.isToTryAgain = true }
      return !state.isToTryAgain
    }
    guard isFirst else { return }
    Retry.later { [weak self] in
      self?.state.withLock { $0.isToTryAgain = false }
      self?.wake()
    }
  }
}
