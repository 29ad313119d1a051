// Presents the messages of a name as a sequence.

internal import DarwinNotify
internal import DarwinNotifySupport

extension Wormhole {
  /// The messages of a name, as a sequence.
  ///
  /// Every iterator gets every message. Nothing waits in memory for a slow consumer: when it is
  /// ready it reads the stored records, all of a log or the newest message of a file, and
  /// ``Message/missed`` counts the others. Leaving the loop, dropping the sequence or cancelling
  /// the task ends the registration.
  ///
  ///     for await message in try hole.messages(.lightState, starting: .since(number)) {
  ///       show(message.value)
  ///     }
  ///
  /// Messages are read and decoded on a thread of the library. With a cursor, asking for the next
  /// message stores that the previous one has been handled. Leaving the loop by `break`, an error
  /// or a cancellation does not: the message comes again.
  public struct Messages<Value: Codable & Sendable>: AsyncSequence, Sendable {
    /// A message.
    public typealias Element = Message<Value>

    /// The sequence never throws: errors arrive as messages.
    public typealias Failure = Never

    private let source: Source
    private let senders: Senders

    init(
      of name: MessageName<Value>, in channel: Channel, from senders: Senders, _ start: Start
    ) throws(WormholeError) {
      source = try Source(of: name, in: channel, start)
      self.senders = senders
    }

    /// Begins an iteration.
    ///
    /// The first iterator has been registered since the sequence was created. Each further one is
    /// registered here, with the same start. It ends at once if that fails.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(iteration: source.takeBeginning().map { MessageIteration($0, from: senders) })
    }

    /// An iteration over the messages of a name.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let iteration: MessageIteration<Value>?

      /// Waits for the next message.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the message, or `nil` once the task is cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async -> Message<Value>? {
        await iteration?.next(isolation: actor)
      }
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension Wormhole.Messages.Iterator: Sendable {}

extension Wormhole.Messages {
  /// The beginning of an iteration.
  struct Beginning: Sendable {
    let channel: Channel
    let notifications: Notifications
    let reader: MessageReader<Value>
  }

  /// Makes the beginnings of iterations, the first one in advance.
  private final class Source: Sendable {
    private let name: MessageName<Value>
    private let channel: Channel
    private let start: Wormhole.Start
    private let first: Locked<Beginning?>

    init(
      of name: MessageName<Value>, in channel: Channel, _ start: Wormhole.Start
    ) throws(WormholeError) {
      self.name = name
      self.channel = channel
      self.start = start
      first = Locked(try Self.begin(name, channel, start))
    }

    func takeBeginning() -> Beginning? {
      first.withLock { $0.take() } ?? (try? Self.begin(name, channel, start))
    }

    /// Observes changes before it looks where to begin, so that nothing is missed in between.
    private static func begin(
      _ name: MessageName<Value>, _ channel: Channel, _ start: Wormhole.Start
    ) throws(WormholeError) -> Beginning {
      let notifications = try channel.center.notifications(of: channel.changeName)
      return Beginning(
        channel: channel, notifications: notifications,
        reader: try MessageReader(name, channel.mailbox, from: start))
    }
  }
}

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
