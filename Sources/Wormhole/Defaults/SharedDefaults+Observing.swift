// Reports the changes of values.

public import DarwinNotify
public import DarwinNotifySupport
public import FoundationEssentials

extension SharedDefaults {
  /// A change of a value.
  public struct Change<Value: Codable & Sendable>: Sendable {
    let result: Result<Value, WormholeError>

    /// The new value, or the default of the key if it was removed.
    ///
    /// - Throws: ``WormholeError/decoding`` if it was set to a value of another type. This
    ///   affects only this change; others follow.
    public var value: Value { get throws { try result.get() } }

    /// Whether nothing is set.
    public let isRemoved: Bool

    /// The process that last changed it; `nil` if it was never set.
    public let sender: Sender?

    /// When it was last changed; `nil` if it was never set.
    public let date: Date?

    /// The position of its record; `nil` if the store could not be read.
    let position: StoredPosition?
  }

  /// Returns the changes of a value, including those of this process.
  ///
  /// Of several changes between two reads only the last is reported. No change after this call is
  /// missed, however late the iteration begins. A value that cannot be read is a change whose
  /// ``Change/value`` throws; an error of the file ends the iteration.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  /// - Returns: the sequence.
  /// - Throws: ``WormholeError/notification`` if changes cannot be observed; without `initial` what
  ///   reading throws.
  public func changes<Value>(
    of key: DefaultsKey<Value>, initial: Bool = true
  ) throws -> StoredSequence<Change<Value>> {
    try StoredSequence(feed(key, after: start(key, initial)))
  }

  /// Calls a handler for the changes of a value, until the observation ends.
  ///
  /// Changes by any process count, this one included. Of several changes between two calls only the
  /// last is reported. If the file cannot be read, the handler is called once with a change whose
  /// ``Change/value`` throws the error, and again when it can be read.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  ///   - delivery: where the handler runs. The value is read and decoded elsewhere.
  ///   - handler: the handler.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``changes(of:initial:)`` throws.
  public func observe<Value>(
    _ key: DefaultsKey<Value>, initial: Bool = true, on delivery: Delivery,
    _ handler: @escaping @Sendable (Change<Value>) -> Void
  ) throws -> NotificationObservation {
    try observe(key, after: start(key, initial), on: delivery, handler)
  }

  /// Calls a handler on the main actor for the changes of a value, as
  /// ``observe(_:initial:on:_:)-(_,_,Delivery,_)`` does elsewhere.
  ///
  ///     let observation = try group.defaults.observe(.theme) { change in
  ///       apply((try? change.value) ?? "light")
  ///     }
  public func observe<Value>(
    _ key: DefaultsKey<Value>, initial: Bool = true,
    _ handler: @escaping @MainActor @Sendable (Change<Value>) -> Void
  ) throws -> NotificationObservation {
    try observe(key, initial: initial, on: .main, onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor that lives as long as the observation, as
  /// ``observe(_:initial:on:_:)-(_,_,Delivery,_)`` does elsewhere.
  public func observe<Value, Isolation: Actor>(
    _ key: DefaultsKey<Value>, initial: Bool = true, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Change<Value>) -> Void
  ) throws -> NotificationObservation {
    try observe(key, initial: initial, on: .actor(actor), onActor(actor, handler))
  }

  func observe<Value>(
    _ key: DefaultsKey<Value>, after position: StoredPosition?, on delivery: Delivery,
    _ handler: @escaping @Sendable (Change<Value>) -> Void
  ) throws(WormholeError) -> NotificationObservation {
    let feed = feed(key, after: position)
    let pump = try StoredPump(of: feed, on: delivery, handler)
    pump.begin(try feed.makeReader())
    return NotificationObservation(pump)
  }

  /// The position after which to begin, `nil` to begin with the current value.
  private func start<Value>(
    _ key: DefaultsKey<Value>, _ initial: Bool
  ) throws(WormholeError) -> StoredPosition? {
    initial ? nil : try store.lastChange(of: key).position
  }

  private func feed<Value>(
    _ key: DefaultsKey<Value>, after position: StoredPosition?
  ) -> StoredFeed<Change<Value>> {
    let store = store
    return StoredFeed(
      path: store.path, queues: store.queues,
      observe: { (handler) throws(WormholeError) in try store.observe(key.name, handler) },
      makeReader: { () throws(WormholeError) in DefaultsReader(key, in: store, after: position) })
  }
}
