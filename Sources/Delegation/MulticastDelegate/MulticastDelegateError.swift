// The errors of a multicast.

/// Why a delegate could not be added.
public enum MulticastDelegateError: Error, Equatable, Sendable {
  /// The delegate is a value of a value type, which cannot be held weakly.
  ///
  /// The type is named here. For listeners without a class use ``MulticastListeners``.
  case notAnObject(type: String)
}

extension MulticastDelegateError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    switch self {
    case .notAnObject(let type):
      "\(type) is a value type, and only objects can be delegates"
    }
  }
}
