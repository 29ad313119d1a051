// Calls handlers for the changes of settings.

public import DarwinNotify
internal import DarwinNotifySupport

extension SharedDefaults {
  /// Calls a handler on the main actor for the changes of a value, until the observation ends.
  ///
  ///     let observation = try group.defaults.observe(.theme) { change in
  ///       apply((try? change.value) ?? "light")
  ///     }
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  ///   - handler: the handler. The value is also read and decoded on the main actor.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:initial:on:_:)-(_,_,Delivery,_)`` throws.
  public func observe<Value>(
    _ key: DefaultsKey<Value>, initial: Bool = true,
    _ handler: @escaping @MainActor @Sendable (Change<Value>) -> Void
  ) throws(WormholeError) -> DefaultsObservation {
    try observe(key, initial: initial, on: .main, onMainActor(handler))
  }

  /// Calls a handler for the changes of a value, until the observation ends.
  ///
  /// Changes by any process count, this one included. Of several changes between two calls only the
  /// last is reported. If the value cannot be read, the handler is called once with a change whose
  /// ``Change/value`` throws the error, and again when it can be read.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  ///   - delivery: where the handler runs, and where the value is read and decoded for it.
  ///   - handler: the handler.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``changes(of:initial:)`` throws.
  public func observe<Value>(
    _ key: DefaultsKey<Value>, initial: Bool = true, on delivery: Delivery,
    _ handler: @escaping @Sendable (Change<Value>) -> Void
  ) throws(WormholeError) -> DefaultsObservation {
    // Observes first, then reads where to begin.
    let wakener = Locked<DefaultsPump<Value>?>(nil)
    let registration = try center.observe(changeName) { wakener.withLock { $0 }?.wake() }
    let number = try readHere { (table) throws(WormholeError) in try table?.lastNumber() } ?? 0
    let pump = DefaultsPump(
      key, in: self, after: initial ? nil : number, on: delivery, handler)
    wakener.withLock { $0 = pump }
    pump.wake()
    return DefaultsObservation(registration) { pump.end() }
  }

  /// Calls a handler, isolated to an actor, for the changes of a value, until the observation ends.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - initial: whether to begin with the current value.
  ///   - actor: the actor, which lives as long as the observation. The value is also read and
  ///     decoded there.
  ///   - handler: the handler, which is passed the actor and the change.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:initial:on:_:)-(_,_,Delivery,_)`` throws.
  public func observe<Value, Isolation: Actor>(
    _ key: DefaultsKey<Value>, initial: Bool = true, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Change<Value>) -> Void
  ) throws(WormholeError) -> DefaultsObservation {
    try observe(key, initial: initial, on: .actor(actor), onActor(actor, handler))
  }
}

/// A registered handler for the changes of a setting. It lasts as long as this value lives.
public final class DefaultsObservation: Sendable {
  private let registration: NotificationObservation
  private let endPump: @Sendable () -> Void

  fileprivate init(
    _ registration: NotificationObservation, endPump: @escaping @Sendable () -> Void
  ) {
    self.registration = registration
    self.endPump = endPump
  }

  deinit {
    cancel()
  }

  /// Ends the registration. Calling it again has no effect.
  ///
  /// If called on the executor of the handler, no call follows. If called elsewhere, at most one
  /// call that has already begun may still finish.
  public func cancel() {
    registration.cancel()
    endPump()
  }
}
