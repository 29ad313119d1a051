// Presents the changes of settings as sequences.

internal import DarwinNotify
public import FoundationEssentials

extension SharedDefaults {
  /// What became of a value.
  public struct Change<Value: Codable & Sendable>: Sendable {
    let result: Result<Value, WormholeError>

    /// The value, or the default of the key where it was removed.
    ///
    /// - Throws: ``WormholeError/decoding(_:)`` if it was set to a value of another type. That
    ///   concerns this change alone, others follow.
    public var value: Value { get throws(WormholeError) { try result.get() } }

    /// Whether nothing is set.
    public let isRemoved: Bool

    /// Who changed it last; `nil` if it was never set.
    public let sender: Wormhole.Sender?

    /// When it was changed last; `nil` if it was never set.
    public let date: Date?
  }

  /// What has changed, without the value.
  public struct AnyChange: Hashable, Sendable {
    /// The name of the key.
    public let name: String

    /// Whether it was removed.
    public let isRemoved: Bool

    /// Who changed it last.
    public let sender: Wormhole.Sender

    /// When it was changed last.
    public let date: Date
  }

  /// Returns the changes of a value, those by this process too.
  ///
  /// Several changes between two looks are one: the last. No change after the return is missed,
  /// however late the iteration begins.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the value as it is then.
  /// - Returns: the sequence. An error does not end an iteration: the next call looks again.
  /// - Throws: ``WormholeError/notification(_:)`` if it is not possible to listen, what reading
  ///   throws.
  public func changes<Value>(
    of key: DefaultsKey<Value>, initial: Bool = true
  ) throws(WormholeError) -> Changes<Value> {
    Changes(key: key, news: try news(), isInitial: initial)
  }

  /// Returns the changes of all values, those by this process too.
  ///
  /// - Returns: the sequence. An error does not end an iteration: the next call looks again.
  /// - Throws: what ``changes(of:initial:)`` throws.
  public func changes() throws(WormholeError) -> AllChanges {
    AllChanges(news: try news())
  }

  /// Listens first, then looks where it stands.
  private func news() throws(WormholeError) -> DefaultsNews {
    let notifications = try center.notifications(of: changeName)
    let number = try read { (table) throws(WormholeError) in try table.lastNumber() } ?? 0
    return DefaultsNews(defaults: self, notifications: notifications, start: number)
  }

  /// The changes of a value.
  public struct Changes<Value: Codable & Sendable>: AsyncSequence, Sendable {
    /// What the sequence is made of.
    public typealias Element = Change<Value>

    /// What can go wrong.
    public typealias Failure = WormholeError

    fileprivate let key: DefaultsKey<Value>
    fileprivate let news: DefaultsNews
    fileprivate let isInitial: Bool

    /// Begins an iteration, which sees all that has changed since the sequence was made.
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
      /// - Throws: what reading a value throws, but for ``WormholeError/decoding(_:)``.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(WormholeError) -> Change<Value>? {
        let (name, takesAny) = (key.name, isInitial)
        let found = try await news.next(isolation: actor) {
          (table, position) throws(WormholeError) -> (DefaultsTable.Row?, Int64)? in
          let row = try table?.row(name)
          guard takesAny || row.map({ $0.number > position }) == true else { return nil }
          return (row, Swift.max(row?.number ?? position, position))
        }
        guard let row = found else { return nil }
        isInitial = false
        return Change(key, try row?.entry.get())
      }
    }
  }

  /// The changes of all values.
  public struct AllChanges: AsyncSequence, Sendable {
    /// What the sequence is made of.
    public typealias Element = AnyChange

    /// What can go wrong.
    public typealias Failure = WormholeError

    fileprivate let news: DefaultsNews

    /// Begins an iteration, which sees all that has changed since the sequence was made.
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
          try table?.row(after: position).map { ($0, $0.number) }
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
  fileprivate init(_ key: DefaultsKey<Value>, _ entry: DefaultsTable.Entry?) {
    result = Result { () throws(WormholeError) in try key.value(of: entry) }
    isRemoved = entry?.value == nil
    sender = entry?.sender
    date = entry?.date
  }
}
