// Presents the changes of defaults as sequences.

internal import DarwinNotify
public import FoundationEssentials

extension SharedDefaults {
  /// A change of a value.
  public struct Change<Value: Codable & Sendable>: Sendable {
    let result: Result<Value, WormholeError>

    /// The new value, or the default of the key if it was removed.
    ///
    /// - Throws: ``WormholeError/decoding`` if it was set to a value of another type. This
    ///   affects only this change; others follow.
    public var value: Value { get throws(WormholeError) { try result.get() } }

    /// Whether nothing is set.
    public let isRemoved: Bool

    /// The process that changed it last; `nil` if it was never set.
    public let sender: Wormhole.Sender?

    /// When it was changed last; `nil` if it was never set.
    public let date: Date?
  }

  /// A change, without the value.
  public struct AnyChange: Hashable, Sendable {
    /// The name of the key.
    public let name: String

    /// Whether it was removed.
    public let isRemoved: Bool

    /// The process that changed it last.
    public let sender: Wormhole.Sender

    /// When it was changed last.
    public let date: Date
  }

  /// Returns the changes of a value, including those of this process.
  ///
  /// Of several changes between two reads only the last is reported. No change after this call is
  /// missed, however late the iteration begins.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  /// - Returns: the sequence. An error does not end an iteration: the next call tries again.
  /// - Throws: ``WormholeError/notification`` if changes cannot be observed, what reading
  ///   throws.
  public func changes<Value>(
    of key: DefaultsKey<Value>, initial: Bool = true
  ) throws(WormholeError) -> Changes<Value> {
    Changes(key: key, news: try news(), isInitial: initial)
  }

  /// Returns the changes of all values, including those of this process.
  ///
  /// - Returns: the sequence. An error does not end an iteration: the next call tries again.
  /// - Throws: what ``changes(of:initial:)`` throws.
  public func changes() throws(WormholeError) -> AllChanges {
    AllChanges(news: try news())
  }

  /// Observes first, then reads where to begin.
  private func news() throws(WormholeError) -> DefaultsNews {
    let notifications = try center.notifications(of: changeName)
    let number = try read { (table) throws(WormholeError) in try table.lastNumber() } ?? 0
    return DefaultsNews(defaults: self, notifications: notifications, start: number)
  }

  /// The changes of a value.
  public struct Changes<Value: Codable & Sendable>: AsyncSequence, Sendable {
    /// The type of the sequence's elements.
    public typealias Element = Change<Value>

    /// The errors of the sequence.
    public typealias Failure = WormholeError

    fileprivate let key: DefaultsKey<Value>
    fileprivate let news: DefaultsNews
    fileprivate let isInitial: Bool

    /// Begins an iteration, which sees all changes since the sequence was created.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(key: key, news: news.makeIterator(), isInitial: isInitial)
    }

    /// An iteration over the changes of a value.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let key: DefaultsKey<Value>
      fileprivate var news: DefaultsNews.Iterator
      fileprivate var isInitial: Bool

      /// Waits for the next change.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the change, or `nil` once the task is cancelled.
      /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(WormholeError) -> Change<Value>? {
        let (name, takesAny) = (key.name, isInitial)
        let found = try await news.next(isolation: actor) {
          (table, position) throws(WormholeError) in
          try DefaultsNews.change(of: name, after: position, inAnyCase: takesAny, in: table)
        }
        guard let row = found else { return nil }
        isInitial = false
        return Change(key, try row?.entry.get())
      }
    }
  }

  /// The changes of all values.
  public struct AllChanges: AsyncSequence, Sendable {
    /// The type of the sequence's elements.
    public typealias Element = AnyChange

    /// The errors of the sequence.
    public typealias Failure = WormholeError

    fileprivate let news: DefaultsNews

    /// Begins an iteration, which sees all changes since the sequence was created.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(news: news.makeIterator())
    }

    /// An iteration over the changes of all values.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var news: DefaultsNews.Iterator

      /// Waits for the next change.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the change, or `nil` once the task is cancelled.
      /// - Throws: what reading a value throws.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(WormholeError) -> AnyChange? {
        let found = try await news.next(isolation: actor) {
          (table, position) throws(WormholeError) in
          let start = try DefaultsNews.start(position, in: table)
          return try table?.row(after: start).map { ($0, $0.number) }
        }
        guard let entry = try found?.entry.get() else { return nil }
        return AnyChange(
          name: entry.name, isRemoved: entry.value == nil, sender: entry.sender, date: entry.date)
      }
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension SharedDefaults.Changes.Iterator: Sendable {}

/// An iterator belongs to one task.
@available(*, unavailable)
extension SharedDefaults.AllChanges.Iterator: Sendable {}

extension SharedDefaults.Change {
  /// A change that could not be read.
  init(_ error: WormholeError) {
    self.init(result: .failure(error), isRemoved: false, sender: nil, date: nil)
  }

  init(_ key: DefaultsKey<Value>, _ entry: DefaultsTable.Entry?) {
    self.init(
      result: Result { () throws(WormholeError) in try key.value(of: entry) },
      isRemoved: entry?.value == nil, sender: entry?.sender, date: entry?.date)
  }
}
