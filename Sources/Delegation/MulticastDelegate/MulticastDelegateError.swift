// Says why a delegate was refused.

/// Why a delegate could not be added.
public enum MulticastDelegateError: Error, Equatable, Sendable {
  /// The delegate is a value of a value type, which cannot be held weakly.
  ///
  /// It has the name of the type. A listener without a class fits into ``MulticastListeners``.
  case notAnObject(type: String)
}

extension MulticastDelegateError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch self {
    case .notAnObject(let type):
      "\(type) is a value type, and only objects can be delegates"
    }
  }
}
