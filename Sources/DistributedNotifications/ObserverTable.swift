// Remembers the observers that are to be removed by their token.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Foundation

/// What `addObserver` returns.
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
