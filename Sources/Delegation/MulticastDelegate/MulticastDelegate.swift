// Calls many delegates.

public import DarwinNotifySupport

/// Many delegates behind one object, each called at its own place.
///
///     protocol PlayerEvents: AnyObject, Sendable {
///       func didStart(_ track: Int)
///       func position(of track: Int) -> Double?
///     }
///
///     let events = MulticastDelegate<any PlayerEvents>()
///     try events.add(view)                                 // on the main queue
///     try events.add(recorder, on: .queue(disk))
///     events.each { $0.didStart(7) }                       // all of them
///     let seconds = events.first { $0.position(of: 7) }
///
/// Delegates are held weakly and called in the order in which they were added. The calls of one
/// delegate run in the order in which they were made and never overlap; no delegate waits for
/// another one. Nothing here blocks, and every method may be called on any thread, even by a
/// delegate.
public final class MulticastDelegate<Delegate: Sendable>: Sendable {
  @usableFromInline typealias Entry = (seat: DelegateSeat, holder: Holder<Delegate>)

  /// In the order in which they were added. Weak references are never read under the lock: freeing
  /// a delegate runs code of the host.
  private let table = Locked<[Entry]>([])

  /// Creates a multicast without delegates.
  public init() {}

  /// Adds a delegate.
  ///
  /// - Parameters:
  ///   - delegate: an object. It is held weakly, so it need not be removed.
  ///   - delivery: where the delegate is called. With `.inline` that is the caller's thread, before
  ///     the call returns; if the delegate is busy, the thread that is busy with it makes the call
  ///     next.
  /// - Returns: false if the delegate has already been added with the same delivery, and then
  ///   nothing changes. Two deliveries are the same if they name the same queue or executor; all
  ///   loops count as one.
  /// - Throws: ``DelegationError/notAnObject`` for a value of a value type.
  @discardableResult public func add(
    _ delegate: Delegate, on delivery: Delivery = .main
  ) throws -> Bool {
    let holder = try Holder(weak: delegate)
    // A dead delegate may have had the address of this one.
    removeDead()
    let seat = DelegateSeat(of: holder.object, at: DeliveryPlace(of: delivery))
    return table.withLock { entries in
      guard !entries.contains(where: { $0.seat.equals(seat) }) else { return false }
      entries.append((seat, holder))
      return true
    }
  }

  /// Adds a delegate that is held until its registration is cancelled. It may be a value, such as a
  /// structure of closures.
  ///
  /// - Parameters:
  ///   - delegate: the delegate.
  ///   - delivery: where it is called.
  /// - Returns: the registration. Once it is cancelled, no new call starts.
  @discardableResult public func add(
    holding delegate: Delegate, on delivery: Delivery = .main
  ) -> HandlerRegistration {
    let seat = DelegateSeat(of: nil, at: DeliveryPlace(of: delivery))
    table.withLock { $0.append((seat, Holder(delegate))) }
    return HandlerRegistration { [weak self, weak seat] in self?.remove { $0.seat === seat } }
  }

  /// Removes a delegate.
  ///
  /// When this returns, no new call of the delegate starts. A call that has already begun on
  /// another thread may still finish; ``removeAndWait(_:on:)`` waits for it.
  ///
  /// - Parameters:
  ///   - delegate: the delegate. If it has not been added, nothing happens.
  ///   - delivery: the delivery to remove it from; `nil` for all.
  /// - Returns: how many deliveries it was removed from.
  @discardableResult public func remove(_ delegate: Delegate, on delivery: Delivery? = nil) -> Int {
    remove(where: Self.filter(delegate, delivery)).count
  }

  /// Removes a delegate, then waits until no call of it is running.
  ///
  /// It waits as long as the call runs. If one of the delegate's own asynchronous methods removes
  /// it, that method does not wait for itself.
  ///
  /// - Parameters:
  ///   - delegate: the delegate. If it has not been added, nothing happens.
  ///   - delivery: the delivery to remove it from; `nil` for all.
  /// - Returns: how many deliveries it was removed from.
  @discardableResult public func removeAndWait(
    _ delegate: Delegate, on delivery: Delivery? = nil
  ) async -> Int {
    let removed = remove(where: Self.filter(delegate, delivery))
    for entry in removed { await entry.seat.waitUntilIdle() }
    return removed.count
  }

  /// Removes all delegates. The promises are those of ``remove(_:on:)``.
  ///
  /// - Returns: the number of registrations that ended.
  @discardableResult public func removeAll() -> Int {
    remove { _ in true }.count
  }

  /// Returns whether a delegate has been added.
  ///
  /// - Parameters:
  ///   - delegate: the delegate.
  ///   - delivery: the delivery it was added with; `nil` for any.
  /// - Returns: whether it has been.
  public func has(_ delegate: Delegate, on delivery: Delivery? = nil) -> Bool {
    entries.contains(where: Self.filter(delegate, delivery))
  }

  /// The number of registrations, one for each delivery of each living delegate.
  public var count: Int {
    removeDead()
    return entries.count
  }

  /// All delegates, some of which may be gone.
  @usableFromInline var entries: [Entry] { table.withLock { $0 } }

  /// Forgets the delegates that are gone.
  @usableFromInline func removeDead() {
    remove { $0.holder.current == nil }
  }

  /// Closes and removes the seats that match. Returns those that had delegates.
  @discardableResult private func remove(where fits: (Entry) -> Bool) -> [Entry] {
    let chosen = Set(entries.filter(fits).map { ObjectIdentifier($0.seat) })
    guard !chosen.isEmpty else { return [] }
    let removed = table.withLock { entries in
      let removed = entries.filter { chosen.contains(ObjectIdentifier($0.seat)) }
      entries.removeAll { chosen.contains(ObjectIdentifier($0.seat)) }
      return removed
    }
    for entry in removed { entry.seat.close() }
    return removed.filter { $0.holder.current != nil }
  }

  /// Selects the entries of a delegate, at one place or at all of them.
  private static func filter(_ delegate: Delegate, _ delivery: Delivery?) -> (Entry) -> Bool {
    let place = delivery.map { DeliveryPlace(of: $0) }
    return { entry in
      entry.holder.object != nil && entry.seat.belongs(to: delegate as AnyObject, at: place)
    }
  }
}
