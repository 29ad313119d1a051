// Registers the listeners of messages.

public import DarwinNotify
internal import DarwinNotifySupport

extension Wormhole {
  /// Binds a listener to a name. Binding again replaces the listener of the same name.
  ///
  /// When a listener is replaced, each message reaches exactly one of the two, except the stored
  /// one, which the new listener gets again if it starts with it. The new listener begins when the
  /// last call of the old one has ended. If binding fails, the old one stays. A message passed
  /// meanwhile is delivered exactly once.
  ///
  /// A listener is called once for each message, in the order of their numbers, never by two
  /// threads at a time. If it is slower than the senders, it does not get messages that are no
  /// longer kept; ``Message/missed`` counts them.
  ///
  /// Messages are read and decoded on threads of the library, never where the listener runs. A
  /// listener with the delivery `.inline` also runs on such a thread, and other readers of the
  /// store wait for it. This call reads where to start, without waiting for writers, and stores a
  /// cursor that does not exist yet.
  ///
  /// - Parameters:
  ///   - listener: the listener. Names of listeners are compared byte by byte.
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  /// - Throws: ``WormholeError``; among them ``WormholeError/notification`` if the bus accepts
  ///   no more rules, ``WormholeError/cursorInUse``.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func bind<Value>(
    _ listener: Listener<Message<Value>>, to name: MessageName<Value>,
    from senders: Senders = .all, starting start: Start = .last
  ) throws {
    let key = ExactString(name.rawValue)
    let pump = try StoredPump(
      of: feed(name, senders, start), on: listener.delivery, listener.action)
    let (position, removed) = try prepare(
      pump, name, senders, start, replacing: listeners.find(listener.name, of: key)?.delivery)
    let replaced = listeners.put(BoundListener(pump), for: listener.name, of: key)?.delivery
    guard let old = replaced ?? removed else { return pump.begin(after: position) }
    old.end { position in
      guard let removed else { return pump.begin(after: position) }
      removed.afterRuns { pump.begin(after: position) }
    }
  }

  /// Gives a pump its reader. Only the listener that is replaced, or one that was removed, can have
  /// the cursor open; the latter is returned, since it may still use it.
  private func prepare<Value>(
    _ pump: StoredPump<Message<Value>>, _ name: MessageName<Value>, _ senders: Senders,
    _ start: Start, replacing replaced: (any StoredDelivery)?
  ) throws(WormholeError) -> (position: StoredPosition, removed: (any StoredDelivery)?) {
    var removed = takeLeaving(from: name.rawValue, with: start)
    let delivery = removed?.delivery
    do throws(WormholeError) {
      let reader = try MessageReader(
        name, in: store, from: senders, starting: start,
        inheriting: removed?.cursor ?? replaced?.cursor)
      pump.prepare(reader)
      return (reader.position, delivery)
    } catch {
      leaving.withLock { leaving in
        if let removed = removed.take() { leaving.append(removed) }
      }
      delivery.map(forgetAfterRuns(of:))
      throw error
    }
  }

  /// Removes a listener. On its executor, no call of it follows. Another listener can be bound with
  /// its cursor at once: it begins when the last call has ended.
  ///
  /// - Parameters:
  ///   - listener: the name of the listener. If it is not bound, nothing happens.
  ///   - name: the name that it is bound to.
  ///
  /// The corresponding method of MMWormhole is `stopListeningForMessageWithIdentifier:`.
  public func unbind<Value>(_ listener: String, from name: MessageName<Value>) {
    if let removed = listeners.take(listener, from: ExactString(name.rawValue)) { end(removed) }
  }

  /// Removes all listeners that were bound to a name. Observations and sequences stay.
  ///
  /// - Parameter name: the name that the listeners are bound to.
  public func unbindAll<Value>(from name: MessageName<Value>) {
    listeners.takeAll(from: ExactString(name.rawValue)).forEach(end)
  }

  /// Ends a removed listener. Its cursor stays at hand until no run uses it.
  private func end(_ listener: BoundListener) {
    let delivery = listener.delivery
    // No variable keeps the cursor longer than its entry.
    leaving.withLock { leaving in
      if let cursor = delivery.cursor {
        leaving.append(LeavingListener(delivery: delivery, cursor: cursor))
      }
    }
    listener.observation.cancel()
    forgetAfterRuns(of: delivery)
  }

  /// Lets go of the cursor of a removed listener when no run uses it.
  private func forgetAfterRuns(of delivery: any StoredDelivery) {
    delivery.afterRuns { [leaving] in
      // The cursor is closed under the lock: at no time is it in use but not at hand.
      leaving.withLock { $0.removeAll { $0.delivery === delivery } }
    }
  }

  /// Takes over from a removed listener that still uses a cursor.
  private func takeLeaving(from name: String, with start: Start) -> LeavingListener? {
    guard case .cursor(let cursor) = start else { return nil }
    return leaving.withLock { leaving in
      let index = leaving.firstIndex {
        ExactString($0.cursor.name) == ExactString(name)
          && ExactString($0.cursor.cursor) == ExactString(cursor)
      }
      return index.map { leaving.remove(at: $0) }
    }
  }

  /// Calls a handler for the messages of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  ///
  /// The corresponding method of MMWormhole is `listenForMessageWithIdentifier:listener:`.
  public func listen<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (Message<Value>) -> Void
  ) throws -> NotificationObservation {
    let feed = feed(name, senders, start)
    let pump = try StoredPump(of: feed, on: delivery, handler)
    let observation = NotificationObservation(pump)
    pump.begin(try feed.makeReader())
    return observation
  }

  /// Calls a handler on the main actor for the messages of a name, as
  /// ``listen(_:from:starting:on:_:)-(_,_,_,Delivery,_)`` does elsewhere.
  public func listen<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    _ handler: @escaping @MainActor @Sendable (Message<Value>) -> Void
  ) throws -> NotificationObservation {
    try listen(name, from: senders, starting: start, on: .main, onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor that lives as long as the observation, as
  /// ``listen(_:from:starting:on:_:)-(_,_,_,Delivery,_)`` does elsewhere.
  public func listen<Value, Isolation: Actor>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last,
    on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, Message<Value>) -> Void
  ) throws -> NotificationObservation {
    let handler = onActor(actor, handler)
    return try listen(name, from: senders, starting: start, on: .actor(actor), handler)
  }

  /// Returns the messages of a name as a sequence.
  ///
  /// It is registered when this returns: no later message is missed, however late the iteration
  /// begins. A message that cannot be read is an element with its error; an error of the store ends
  /// the sequence. With a cursor, asking for the next message stores that the previous one has been
  /// handled. Leaving the loop by `break`, an error or cancellation does not: the message is
  /// delivered again.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - senders: whose messages to deliver.
  ///   - start: the message to begin with. With a cursor, only one iteration can run at a time.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``bind(_:to:from:starting:)`` throws.
  public func messages<Value>(
    _ name: MessageName<Value>, from senders: Senders = .all, starting start: Start = .last
  ) throws -> StoredSequence<Message<Value>> {
    try StoredSequence(feed(name, senders, start))
  }

  private func feed<Value>(
    _ name: MessageName<Value>, _ senders: Senders, _ start: Start
  ) -> StoredFeed<Message<Value>> {
    let store = store
    return StoredFeed(
      path: store.path, queues: store.queues,
      observe: { (handler) throws(WormholeError) in
        try store.check(name.rawValue)
        return try store.observe(name.rawValue, handler)
      },
      makeReader: { () throws(WormholeError) in
        try MessageReader(name, in: store, from: senders, starting: start)
      })
  }
}

/// A listener in the table of a wormhole, with which it ends.
struct BoundListener: Sendable {
  let delivery: any StoredDelivery
  let observation: NotificationObservation

  init(_ delivery: any StoredDelivery) {
    self.delivery = delivery
    observation = NotificationObservation(delivery)
  }
}

/// A listener that was removed, but whose last run has not ended.
struct LeavingListener: Sendable {
  let delivery: any StoredDelivery
  let cursor: StoreCursor
}
