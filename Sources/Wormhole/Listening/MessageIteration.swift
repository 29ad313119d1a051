// Goes through the messages of a name for one task.

internal import DarwinNotify

/// The state of one iteration. Its end notes the last message as handled.
final class MessageIteration<Value: Codable & Sendable> {
  private var rings: Notifications.Iterator
  private var reader: MessageReader<Value>
  private let senders: Senders
  private var batch: ArraySlice<Message<Value>> = []
  private var handled: UInt64?

  /// How many messages are read at a time.
  private static var limit: Int { 16 }

  init(_ start: Messages<Value>.Start, from senders: Senders) {
    self.senders = senders
    rings = start.rings.makeAsyncIterator()
    reader = start.reader
    if let initial = reader.takeInitial() { batch = [initial] }
  }

  deinit {
    acknowledge()
  }

  /// Returns the next message, or `nil` once the task is cancelled.
  func next(isolation actor: isolated (any Actor)?) async -> Message<Value>? {
    acknowledge()
    while !Task.isCancelled {
      if let message = batch.popFirst() {
        handled = message.sequence
        if senders.include(message) { return message }
        acknowledge()
        continue
      }
      if reader.isToTryAgain {
        await Retry.wait(isolation: actor)
      } else if reader.isAtEnd, await rings.next(isolation: actor) == nil {
        return nil
      }
      batch = reader.next(limit: Self.limit)[...]
    }
    return nil
  }

  private func acknowledge() {
    if let handled = handled.take() { reader.acknowledge(handled) }
  }
}
