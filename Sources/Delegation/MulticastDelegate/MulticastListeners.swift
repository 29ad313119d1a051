// Calls listeners that consist of closures.

public import DarwinNotifySupport

/// A multicast to listeners without a class: structs of closures.
///
///     struct PlayerListener: Sendable {
///       var didStart: Slot<Int>
///       var didSeek: Slot<Double, String>?          // may be left out
///     }
///
///     let listeners = MulticastListeners<PlayerListener>()
///     let registration = listeners.add(PlayerListener(didStart: Slot { print($0) }))
///     listeners.didStart(7)
///     registration.cancel()
///
/// A listener is called like a delegate of ``MulticastDelegate``. It stays until its registration
/// is cancelled.
@dynamicMemberLookup
public final class MulticastListeners<Listener: Sendable>: Sendable {
  private let multicast = MulticastDelegate<ListenerHolder<Listener>>()
  private let holders = Locked<[ObjectIdentifier: ListenerHolder<Listener>]>([:])

  /// Creates a multicast without listeners.
  public init() {}

  /// Adds a listener.
  ///
  /// - Parameters:
  ///   - listener: the listener.
  ///   - delivery: where its closures are called.
  ///   - inPlace: whether a caller that is already at that place calls them at once.
  /// - Returns: the registration. Once it is cancelled, no new call of the listener starts.
  @discardableResult public func add(
    _ listener: Listener, on delivery: Delivery = .main, inPlace: Bool = false
  ) -> Registration {
    let holder = ListenerHolder(listener)
    let identity = ObjectIdentifier(holder)
    holders.withLock { $0[identity] = holder }
    do {
      try multicast.add(holder, on: delivery, inPlace: inPlace)
    } catch {
      preconditionFailure("a holder is an object")
    }
    return Registration { [weak self] in
      guard let self, let holder = holders.withLock({ $0.removeValue(forKey: identity) })
      else { return }
      multicast.remove(holder)
    }
  }

  /// Removes all listeners. No new call of any of them starts.
  public func removeAll() {
    let removed = holders.withLock { holders in
      defer { holders = [:] }
      return holders
    }
    multicast.removeAll()
    // Releases everything that the closures hold, without the lock.
    withExtendedLifetime(removed) {}
  }

  /// The number of listeners.
  public var count: Int { holders.withLock { $0.count } }

  /// Calls a closure of all listeners.
  ///
  /// - Parameter path: the slot of the closure.
  public subscript<each Argument: Sendable>(
    dynamicMember path: any KeyPath<Listener, Slot<repeat each Argument>> & Sendable
  ) -> SlotCall<Listener, repeat each Argument> {
    SlotCall(multicast) { $0[keyPath: path] }
  }

  /// Calls an optional closure of the listeners that have it.
  ///
  /// - Parameter path: the slot of the closure.
  public subscript<each Argument: Sendable>(
    dynamicMember path: any KeyPath<Listener, Slot<repeat each Argument>?> & Sendable
  ) -> SlotCall<Listener, repeat each Argument> {
    SlotCall(multicast) { $0[keyPath: path] }
  }
}

/// Gives a listener the identity of an object.
final class ListenerHolder<Listener: Sendable>: Sendable {
  let listener: Listener

  init(_ listener: Listener) {
    self.listener = listener
  }
}

/// One closure of all listeners of a ``MulticastListeners``, called like a function.
public struct SlotCall<Listener: Sendable, each Argument: Sendable>: Sendable {
  private let multicast: MulticastDelegate<ListenerHolder<Listener>>
  private let slot: @Sendable (Listener) -> Slot<repeat each Argument>?

  init(
    _ multicast: MulticastDelegate<ListenerHolder<Listener>>,
    _ slot: @escaping @Sendable (Listener) -> Slot<repeat each Argument>?
  ) {
    self.multicast = multicast
    self.slot = slot
  }

  /// Calls the closure of each listener, at its place.
  ///
  /// - Parameter arguments: the arguments of the closure.
  public func callAsFunction(_ arguments: repeat each Argument) {
    let method: @Sendable (ListenerHolder<Listener>) -> (repeat each Argument) -> Void = {
      [slot] holder in
      { (argument: repeat each Argument) in slot(holder.listener)?.body(repeat each argument) }
    }
    multicast(method, repeat each arguments)
  }
}

/// A closure that a listener has instead of a method.
///
///     struct PlayerListener: Sendable {
///       var didStart: Slot<Int>
///       var didSeek: Slot<Double, String>?
///     }
public struct Slot<each Argument>: Sendable {
  let body: @Sendable (repeat each Argument) -> Void

  /// Creates a slot.
  ///
  /// - Parameter body: the closure.
  public init(_ body: @escaping @Sendable (repeat each Argument) -> Void) {
    self.body = body
  }
}
