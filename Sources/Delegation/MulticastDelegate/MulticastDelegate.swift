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
///     events((any PlayerEvents).didStart, 7)               // all of them
///     let seconds = events.first((any PlayerEvents).position, 7)
///
/// Delegates are held weakly and called in the order in which they were added. The calls of one
/// delegate run in the order in which they were made and never overlap; no delegate waits for
/// another one. Nothing here blocks, and every method may be called on any thread, even by a
/// delegate.
///
/// To use a multicast where one delegate is expected, let it conform to the protocol:
///
///     extension MulticastDelegate: PlayerEvents where Delegate == any PlayerEvents {
///       func didStart(_ track: Int) { self((any PlayerEvents).didStart, track) }
///       func position(of track: Int) -> Double? { first((any PlayerEvents).position, track) }
///     }
public final class MulticastDelegate<Delegate: Sendable>: Sendable {
  @usableFromInline let table: DelegateTable

  /// Creates a multicast without delegates.
  public convenience init() {
    self.init(table: DelegateTable())
  }

  private init(table: DelegateTable) {
    self.table = table
  }

  /// Adds a delegate.
  ///
  /// - Parameters:
  ///   - delegate: an object. It is held weakly, so it need not be removed.
  ///   - delivery: where the delegate is called. With `.inline` that is the caller's thread, before
  ///     the call returns; if the delegate is busy, the thread that is busy with it makes the call
  ///     next.
  ///   - inPlace: whether a caller that is already at that place calls the delegate at once, before
  ///     the call returns. Calls that wait for the delegate still come first. It has no effect for
  ///     an actor, a loop or a global queue.
  /// - Returns: false if the delegate has already been added with the same delivery, and then
  ///   nothing changes. Two deliveries are the same if they name the same queue or executor; all
  ///   loops count as one.
  /// - Throws: ``MulticastDelegateError/notAnObject`` for a value of a value type.
  @discardableResult public func add(
    _ delegate: Delegate, on delivery: Delivery = .main, inPlace: Bool = false
  ) throws(MulticastDelegateError) -> Bool {
    guard type(of: delegate as Any) is AnyClass else {
      throw .notAnObject(type: String(reflecting: type(of: delegate as Any)))
    }
    let place = DeliveryPlace(of: delivery)
    return table.add(DelegateSeat(delegate, at: place, inPlace: inPlace))
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
    table.remove(where: Self.filter(delegate, delivery)).count
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
    let removed = table.remove(where: Self.filter(delegate, delivery))
    for seat in removed { await seat.waitUntilIdle() }
    return removed.count
  }

  /// Removes all delegates. The promises are those of ``remove(_:on:)``.
  ///
  /// - Returns: the number of registrations that ended.
  @discardableResult public func removeAll() -> Int {
    table.remove { $0.delegate is Delegate }.count
  }

  /// Removes all delegates, then waits until no call of any of them is running.
  ///
  /// - Returns: the number of registrations that ended.
  @discardableResult public func removeAllAndWait() async -> Int {
    let removed = table.remove { $0.delegate is Delegate }
    for seat in removed { await seat.waitUntilIdle() }
    return removed.count
  }

  /// Returns whether a delegate has been added.
  ///
  /// - Parameters:
  ///   - delegate: the delegate.
  ///   - delivery: the delivery it was added with; `nil` for any.
  /// - Returns: whether it has been.
  public func has(_ delegate: Delegate, on delivery: Delivery? = nil) -> Bool {
    table.seats.contains(where: Self.filter(delegate, delivery))
  }

  /// The number of registrations, one for each delivery of each living delegate.
  public var count: Int {
    table.removeDead()
    return table.seats.count { $0.delegate is Delegate }
  }

  /// The delegates that implement a refinement of the protocol, which takes the place of optional
  /// methods.
  ///
  ///     protocol SeekEvents: PlayerEvents { func didSeek(to second: Double) }
  ///
  ///     events.only((any SeekEvents).self)((any SeekEvents).didSeek, 12.5)
  ///
  /// - Parameter refinement: the refinement.
  /// - Returns: a view of the same delegates, including those added later. What is added to it or
  ///   removed from it is added to or removed from the original.
  public func only<Refinement: Sendable>(
    _ refinement: Refinement.Type
  ) -> MulticastDelegate<Refinement> {
    MulticastDelegate<Refinement>(table: table)
  }

  /// Returns whether a living delegate implements a refinement of the protocol.
  ///
  /// - Parameter refinement: the refinement.
  /// - Returns: whether one does.
  public func responds<Refinement>(to refinement: Refinement.Type) -> Bool {
    table.seats.contains { $0.delegate is Refinement }
  }

  /// Selects the seats of a delegate, at one place or at all of them.
  private static func filter(
    _ delegate: Delegate, _ delivery: Delivery?
  ) -> (DelegateSeat) -> Bool {
    let place = delivery.map { DeliveryPlace(of: $0) }
    return { seat in
      guard place == nil || seat.place == place else { return false }
      return seat.delegate === delegate as AnyObject
    }
  }
}

/// Why a delegate could not be added.
public struct MulticastDelegateError: Error, Equatable, Sendable {
  /// The type of the delegate.
  public let type: String?

  /// The delegate is a value of a value type, which cannot be held weakly.
  ///
  /// The type is in ``type``. For listeners without a class use ``MulticastListeners``.
  public static let notAnObject = Self(type: nil)

  package static func notAnObject(type: String) -> Self { Self(type: type) }

  /// Returns true: there is only one kind of these errors.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  public static func ~= (pattern: Self, error: Self) -> Bool { true }
}

extension MulticastDelegateError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    "\(type ?? "this") is a value type, and only objects can be delegates"
  }
}
