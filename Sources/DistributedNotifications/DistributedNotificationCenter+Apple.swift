// Observes distributed notifications with Apple's signatures.

internal import DarwinNotify
internal import DarwinNotifySupport
public import Foundation

extension DistributedNotificationCenter {
  /// Adds a closure that is called for every matching post, until it is removed. Errors go to
  /// ``onError``.
  ///
  /// While the observers of this process are suspended, the last post of each name and object is
  /// kept for it.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - queue: where the closure runs; `nil` for the main queue.
  ///   - block: the closure. It is released once it has been removed.
  /// - Returns: a token for ``removeObserver(_:)``. The observer stays even if the token is
  ///   dropped.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func addObserver(
    forName name: Notification.Name?, object: String?, queue: OperationQueue?,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(
      forName: name, object: object, suspensionBehavior: .coalesce, queue: queue, using: block)
  }

  /// Adds a closure that is called for every matching post, until it is removed, with a behavior
  /// for while the observers of this process are suspended. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func addObserver(
    forName name: Notification.Name?, object: String?, suspensionBehavior: SuspensionBehavior,
    queue: OperationQueue?, using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    let filter = DistributedFilter(name, object: object, behavior: suspensionBehavior)
    var observation: NotificationObservation?
    report {
      observation = try center.observe(filter, on: Delivery(queue)) { block(Notification($0)) }
    }
    let token = ObserverToken(name: name?.rawValue, object: object, observation: observation)
    observers.add(token)
    return token
  }

  /// Removes an observer. If called where its closure runs, no call of it follows, not even for a
  /// post that is already on its way.
  ///
  /// - Parameter observer: the token returned by `addObserver`; anything else is ignored.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func removeObserver(_ observer: Any) {
    removeObserver(observer, name: nil, object: nil)
  }

  /// Removes an observer if it was added for a name and an object.
  ///
  /// - Parameters:
  ///   - observer: the token returned by `addObserver`; anything else is ignored.
  ///   - name: the name that it was added for; `nil` for any. An observer of every name is not
  ///     removed by one of them.
  ///   - object: the object that it was added for; `nil` for any.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func removeObserver(_ observer: Any, name: Notification.Name?, object: String?) {
    guard let token = observer as? ObserverToken else { return }
    observers.take(token, name: name?.rawValue, object: object)?.observation?.cancel()
  }
}

extension Delivery {
  /// The place where Foundation runs the closures of a queue.
  fileprivate init(_ queue: OperationQueue?) {
    guard let queue, queue !== OperationQueue.main else {
      self = .main
      return
    }
    self = .loop { work in queue.addOperation(work) }
  }
}

/// The result of `addObserver`.
final class ObserverToken: NSObject, @unchecked Sendable {
  // It never changes; its superclass alone does not say that it is sendable.
  let name: String?
  let object: String?
  let observation: NotificationObservation?

  init(name: String?, object: String?, observation: NotificationObservation?) {
    self.name = name
    self.object = object
    self.observation = observation
  }

  /// Whether it asks for a name and an object, where `nil` stands for any. Text is compared by its
  /// bytes.
  func asksFor(name: String?, object: String?) -> Bool {
    isSame(name, as: self.name) && isSame(object, as: self.object)
  }

  private func isSame(_ wanted: String?, as own: String?) -> Bool {
    guard let wanted else { return true }
    return own.map { ExactString($0) == ExactString(wanted) } ?? false
  }
}

/// The observers of a center. They stay until they are removed, also if nobody keeps their token.
final class ObserverTable: Sendable {
  private let tokens = Locked<[ObjectIdentifier: ObserverToken]>([:])

  func add(_ token: ObserverToken) {
    tokens.withLock { $0[ObjectIdentifier(token)] = token }
  }

  /// Takes a token out of the table if it is there and asks for a name and an object.
  func take(_ token: ObserverToken, name: String?, object: String?) -> ObserverToken? {
    guard token.asksFor(name: name, object: object) else { return nil }
    return tokens.withLock { $0.removeValue(forKey: ObjectIdentifier(token)) }
  }
}
