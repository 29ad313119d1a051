// Presents the messages of a name as a sequence.

internal import DarwinNotify

/// The messages of a name, as they come.
///
/// Every iterator gets every message. Nothing waits in memory for a slow consumer: it reads what is
/// kept when it is ready for it, with a log all of it, with files the newest, and
/// ``Message/missed`` says how many it did not get. Leaving the loop, dropping the sequence or
/// cancelling the task ends the registration.
///
///     for await message in try hole.messages(.lightState, replay: .since(sequence)) {
///       show(message.value)
///     }
///
/// Messages are read and decoded where the loop runs. With a cursor, a message is noted as handled
/// when the next one is asked for, or the loop is left.
public struct Messages<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// What the sequence is made of.
  public typealias Element = Message<Value>

  /// The sequence does not fail: what cannot be read is a message as well.
  public typealias Failure = Never

  private let source: Source
  private let senders: Senders

  init(
    of name: MessageName<Value>, in channel: Channel, from senders: Senders, _ replay: Replay
  ) throws(WormholeError) {
    source = try Source(of: name, in: channel, replay)
    self.senders = senders
  }

  /// Begins an iteration.
  ///
  /// The first one has been registered since the sequence was made. Every further one is
  /// registered here, and begins where the sequence was told to begin; it ends at once if that
  /// fails.
  ///
  /// - Returns: an iterator, for one task.
  public func makeAsyncIterator() -> Iterator {
    Iterator(iteration: source.takeStart().map { MessageIteration($0, from: senders) })
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

/// An iterator belongs to one task.
@available(*, unavailable)
extension Messages.Iterator: Sendable {}

extension Messages {
  /// Where an iteration begins.
  struct Start: Sendable {
    let rings: Notifications
    let reader: MessageReader<Value>
  }

  /// Makes the beginnings of the iterations. The first is made in advance.
  private final class Source: Sendable {
    private let name: MessageName<Value>
    private let channel: Channel
    private let replay: Replay
    private let first: Locked<Start?>

    init(
      of name: MessageName<Value>, in channel: Channel, _ replay: Replay
    ) throws(WormholeError) {
      self.name = name
      self.channel = channel
      self.replay = replay
      first = Locked(try Self.start(name, channel, replay))
    }

    func takeStart() -> Start? {
      first.withLock { $0.take() } ?? (try? Self.start(name, channel, replay))
    }

    /// Hears the bell before it looks where to begin.
    private static func start(
      _ name: MessageName<Value>, _ channel: Channel, _ replay: Replay
    ) throws(WormholeError) -> Start {
      let rings = try channel.center.rings(of: channel.bell)
      return Start(rings: rings, reader: try MessageReader(name, channel.mailbox, from: replay))
    }
  }
}
