// Presents stored elements as a sequence.

internal import DarwinNotify
internal import DarwinNotifySupport

/// The stored elements of a group, and those that any program stores later.
///
/// Every iterator gets every element. Nothing piles up in memory for a slow consumer, which reads
/// when it is ready. Leaving the loop, dropping the sequence or cancelling the task ends the
/// registration; a cancelled task gets `nil`. An error ends the iteration: to go on, begin
/// another one.
///
///     for try await message in try hole.messages(.lightState) {
///       show(message.value)
///     }
///
/// The first iterator is registered when the sequence is created: it misses nothing, however late
/// the iteration begins.
public struct StoredSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// An error of the store; all of them are ``WormholeError``.
  public typealias Failure = any Error

  private let feed: StoredFeed<Element>
  private let first: Locked<StoredIteration<Element>.Beginning?>

  init(_ feed: StoredFeed<Element>) throws(WormholeError) {
    self.feed = feed
    first = Locked(try StoredIteration.begin(feed))
  }

  /// Begins an iteration. Each one but the first is registered here.
  ///
  /// - Returns: an iterator, for one task. If it could not be registered, it throws the error.
  public func makeAsyncIterator() -> Iterator {
    let first = first.withLock { $0.take() }
    let beginning = Result { () throws(WormholeError) in
      if let first { first } else { try StoredIteration.begin(feed) }
    }
    return Iterator(iteration: StoredIteration(feed, beginning))
  }

  /// An iteration over stored elements.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let iteration: StoredIteration<Element>

    /// Waits for the next element.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the element, or `nil` once the task is cancelled or an error was thrown.
    /// - Throws: ``WormholeError``.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
      try await iteration.next(isolation: actor)
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension StoredSequence.Iterator: Sendable {}

/// The state of one iteration.
final class StoredIteration<Element: Sendable> {
  /// A registered reader.
  struct Beginning: Sendable {
    let reader: any StoredReader<Element>
    let observation: NotificationObservation
    let hasChanged: Awaited<Bool>
  }

  private let feed: StoredFeed<Element>
  private var beginning: Result<Beginning, WormholeError>?
  private var page = StoredPage<Element>(hasMore: true)

  /// The element that the task is handling.
  private var current: UInt64?

  init(_ feed: StoredFeed<Element>, _ beginning: Result<Beginning, WormholeError>) {
    (self.feed, self.beginning) = (feed, beginning)
  }

  /// Observes changes before it looks where to begin, so that nothing is missed in between.
  static func begin(_ feed: StoredFeed<Element>) throws(WormholeError) -> Beginning {
    let hasChanged = Awaited(false)
    let observation = try feed.observe { hasChanged.change { $0 = true } }
    return Beginning(
      reader: try feed.makeReader(), observation: observation, hasChanged: hasChanged)
  }

  /// Acknowledges the previous element. Returns the next one.
  func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
    do {
      while !Task.isCancelled, let state = try beginning?.get() {
        try await acknowledge(with: state.reader)
        if let next = page.elements.popFirst() {
          current = next.number
          if let element = next.element { return element }
        } else if page.hasMore {
          try await read(state)
        } else {
          await wait(for: state)
        }
      }
    } catch {
      beginning = nil
      guard case WormholeError.cancelled = error else { throw error }
    }
    return nil
  }

  private func acknowledge(
    with reader: any StoredReader<Element>, isolation actor: isolated (any Actor)? = #isolation
  ) async throws(WormholeError) {
    guard let number = current.take(), let cursor = reader.cursor else { return }
    let position = StoredPosition(number: number, identity: reader.position.identity)
    try await feed.queues.writing.run(on: feed.path) { limit in
      Result { () throws(WormholeError) in try cursor.advance(to: position, within: limit) }
    }.get()
  }

  private func read(
    _ state: Beginning, isolation actor: isolated (any Actor)? = #isolation
  ) async throws {
    state.hasChanged.change { $0 = false }
    let old = state.reader
    let (reader, result) = try await feed.queues.reading.run(on: feed.path) { limit in
      var reader = old
      let result = Result { try reader.read(within: limit) }
      return (reader, result)
    }
    page = try result.get()
    beginning = .success(
      Beginning(reader: reader, observation: state.observation, hasChanged: state.hasChanged))
  }

  private func wait(
    for state: Beginning, isolation actor: isolated (any Actor)? = #isolation
  ) async {
    await withTaskCancellationHandler {
      await state.hasChanged.wait(isolation: actor) { $0 }
    } onCancel: {
      state.hasChanged.change { $0 = true }
    }
    page.hasMore = true
  }
}
