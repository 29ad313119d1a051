// Registers the listeners of messages.

public import DarwinNotify

extension Wormhole {
  /// Binds a listener to a name, in the place of the one of the same name.
  ///
  /// A listener that is replaced hands over to the new one: each message reaches exactly one of
  /// the two, but for the one that is stored, which the new one may ask to be told once more. If
  /// binding fails, the old one stays. A message passed meanwhile is delivered exactly once.
  ///
  /// A listener is called once for each message, in the order of their numbers, never by two
  /// threads at a time. With a transit of files it sees the newest message when it is slower than
  /// those who pass; ``Message/missed`` says how many that cost it.
  ///
  /// - Parameters:
  ///   - listener: the listener. Names of listeners are compared by their bytes.
  ///   - name: the name to listen for.
  ///   - senders: whose messages to hear.
  ///   - initial: what the listener is told first.
  ///   - delivery: where the listener runs, and where messages are read and decoded for it, but for
  ///     the one that is stored, which is read here.
  /// - Throws: ``WormholeError``, for one ``WormholeError/notification(_:)`` if the bus accepts no
  ///   more rules.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func bind<Value>(
    _ listener: Listener<Message<Value>>, to name: MessageName<Value>,
    from senders: Senders = .all, initial: Initial = .fireAlways, on delivery: Delivery = .main
  ) throws(WormholeError) {
    let (channel, key) = (try channel(name), key(of: name))
    let pump = MessagePump(from: senders, on: delivery, listener.action)
    let observation = try MessageObservation(pump, rungBy: channel)
    // One at a time: of two that take the same place, each needs to know where the other stopped.
    let old = try binding.withLock { count in
      count += 1
      return Result { () throws(WormholeError) in
        var reader = try MessageReader(name, channel.mailbox, initial: initial)
        let old = listeners.take(listener.name, from: key)
        if let place = old?.end() {
          // What was stored may no longer be the newest.
          let isBehind = place.number > reader.place.number
          let fresh = isBehind ? try? MessageReader(name, channel.mailbox, initial: initial) : nil
          reader = fresh ?? reader
          reader.follow(place)
        }
        pump.prepare(reader)
        _ = listeners.put(observation, for: listener.name, of: key)
        return old
      }
    }.get()
    pump.wake()
    withExtendedLifetime(old) {}
  }

  /// Removes a listener. Where it runs, no call of it follows.
  ///
  /// - Parameters:
  ///   - listener: the name of the listener; one that is not bound is no error.
  ///   - name: the name that it is bound to.
  ///
  /// The corresponding method of MMWormhole is `stopListeningForMessageWithIdentifier:`.
  public func unbind<Value>(_ listener: String, from name: MessageName<Value>) {
    listeners.take(listener, from: key(of: name))?.cancel()
  }

  /// Removes all listeners that were bound to a name. Observations, sequences too, are left alone.
  ///
  /// - Parameter name: the name that the listeners are bound to.
  public func unbindAll<Value>(from name: MessageName<Value>) {
    for observation in listeners.takeAll(from: key(of: name)) {
      observation.cancel()
    }
  }

  /// Calls a handler for the messages of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to hear.
  ///   - replay: where to begin.
  ///   - delivery: where the handler runs, and where messages are read and decoded for it.
  ///   - handler: what to do.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``WormholeError``, for one ``WormholeError/cursorInUse(_:)``,
  ///   ``WormholeError/noCursors``.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func listen<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, replay: Replay = .none,
    on delivery: Delivery = .main,
    _ handler: @escaping @Sendable (Message<Value>) -> Void
  ) throws(WormholeError) -> MessageObservation {
    let channel = try channel(name)
    let pump = MessagePump(from: senders, on: delivery, handler)
    let observation = try MessageObservation(pump, rungBy: channel)
    pump.prepare(try MessageReader(name, channel.mailbox, from: replay))
    pump.wake()
    return observation
  }

  /// Returns the messages of a name as a sequence.
  ///
  /// It is registered when this returns: no message after that is missed, however late the
  /// iteration begins.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to hear.
  ///   - replay: where to begin. With a cursor one iteration can run at a time; a further one ends
  ///     at once.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``listen(_:from:replay:on:_:)`` throws.
  public func messages<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, replay: Replay = .last
  ) throws(WormholeError) -> Messages<Value> {
    try Messages(of: name, in: try channel(name), from: senders, replay)
  }
}
