// Registers the listeners of messages.

public import DarwinNotify
internal import DarwinNotifySupport

extension Wormhole {
  /// Binds a listener to a name. Binding again replaces the listener of the same name.
  ///
  /// When a listener is replaced, each message reaches exactly one of the two, except the stored
  /// one, which the new listener gets again if it starts with it. If binding fails, the old one
  /// stays. A message passed meanwhile is delivered exactly once.
  ///
  /// A listener is called once for each message, in the order of their numbers, never by two
  /// threads at a time. With a transit of files it gets the newest message if it is slower than the
  /// senders; ``Message/missed`` counts the others.
  ///
  /// Messages are read and decoded where the listener runs, except for the stored one, which is
  /// read here.
  ///
  /// - Parameters:
  ///   - listener: the listener. Names of listeners are compared byte by byte.
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  /// - Throws: ``WormholeError``; among them ``WormholeError/notification`` if the bus accepts
  ///   no more rules, ``WormholeError/cursorInUse``,
  ///   ``WormholeError/noCursors``.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func bind<Value>(
    _ listener: Listener<Message<Value>>, to name: MessageName<Value>,
    from senders: Senders = .all, starting start: Start = .last
  ) throws(WormholeError) {
    let (channel, key) = (try channel(name), key(of: name))
    let pump = MessagePump(from: senders, on: listener.delivery, listener.action)
    let observation = try MessageObservation(pump, observing: channel)
    // Only the listener that is replaced can have the cursor open.
    let cursor = listeners.find(listener.name, of: key)?.cursor
    let reader = try MessageReader(name, channel.mailbox, from: start, inheriting: cursor)
    pump.cursor = reader.cursor
    guard let old = listeners.put(observation, for: listener.name, of: key) else {
      return pump.begin(reader)
    }
    old.end { position in pump.begin(reader.following(position, from: start)) }
  }

  /// Removes a listener. On its executor, no call of it follows.
  ///
  /// - Parameters:
  ///   - listener: the name of the listener. If it is not bound, nothing happens.
  ///   - name: the name that it is bound to.
  ///
  /// The corresponding method of MMWormhole is `stopListeningForMessageWithIdentifier:`.
  public func unbind<Value>(_ listener: String, from name: MessageName<Value>) {
    listeners.take(listener, from: key(of: name))?.cancel()
  }

  /// Removes all listeners that were bound to a name. Observations and sequences stay.
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
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  ///   - delivery: where the handler runs, and where messages are read and decoded for it.
  ///   - handler: the handler.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func listen<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (Message<Value>) -> Void
  ) throws(WormholeError) -> MessageObservation {
    let channel = try channel(name)
    let pump = MessagePump(from: senders, on: delivery, handler)
    let observation = try MessageObservation(pump, observing: channel)
    pump.begin(try MessageReader(name, channel.mailbox, from: start))
    return observation
  }

  /// Calls a handler on the main actor for the messages of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  ///   - handler: the handler. Messages are also read and decoded on the main actor.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  public func listen<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    _ handler: @escaping @MainActor @Sendable (Message<Value>) -> Void
  ) throws(WormholeError) -> MessageObservation {
    try listen(name, from: senders, starting: start, on: .main, onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor, for the messages of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  ///   - actor: the actor, which lives as long as the observation. Messages are also read and
  ///     decoded there.
  ///   - handler: the handler, which is passed the actor and the message.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  public func listen<Value, Isolation: Actor>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Message<Value>) -> Void
  ) throws(WormholeError) -> MessageObservation {
    let handler = onActor(actor, handler)
    return try listen(name, from: senders, starting: start, on: .actor(actor), handler)
  }

  /// Returns the messages of a name as a sequence.
  ///
  /// It is registered when this returns: no later message is missed, however late the iteration
  /// begins.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with. With a cursor one iteration can run at a time; a further
  ///     one ends at once.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  public func messages<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last
  ) throws(WormholeError) -> Messages<Value> {
    try Messages(of: name, in: try channel(name), from: senders, start)
  }
}
