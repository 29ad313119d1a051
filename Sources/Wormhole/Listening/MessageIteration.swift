// Delivers the messages of a name to one task.

internal import DarwinNotify

/// The state of one iteration over the messages of a name.
final class MessageIteration<Value: Codable & Sendable> {
  private let channel: Channel
  private var notifications: Notifications.Iterator
  private var reader: MessageReader<Value>
  private let senders: Wormhole.Senders

  /// The message that the task is handling.
  private var current: UInt64?

  init(_ start: Wormhole.Messages<Value>.Beginning, from senders: Wormhole.Senders) {
    self.senders = senders
    channel = start.channel
    notifications = start.notifications.makeAsyncIterator()
    reader = start.reader
  }

  /// Acknowledges the message before. Returns the next one, or `nil` once the task is cancelled.
  func next(isolation actor: isolated (any Actor)?) async -> Wormhole.Message<Value>? {
    while !Task.isCancelled {
      if let message = await nextNow(isolation: actor) {
        current = message.sequence
        if senders.include(message) { return message }
      } else if reader.shouldRetry {
        await Retry.wait(isolation: actor)
      } else if await notifications.next(isolation: actor) != nil {
        reader.look()
      } else {
        return nil
      }
    }
    return nil
  }

  /// Acknowledges the message before. Returns the next one, if there is one by now.
  private func nextNow(
    isolation actor: isolated (any Actor)?
  ) async -> Wormhole.Message<Value>? {
    if reader.cursor == nil, let message = reader.nextInMemory() { return message }
    let (handled, reader) = (current.take(), reader)
    let result = try? await channel.read {
      var reader = reader
      if let handled { reader.acknowledge(handled) }
      let message = reader.next()
      return (reader, message)
    }
    // A task that was cancelled asks no more.
    guard case .success(let (advanced, message))? = result else { return nil }
    self.reader = advanced
    return message
  }
}
