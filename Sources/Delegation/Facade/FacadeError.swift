// The errors of a façade.

/// An error concerning the contracts of a ``Facade``.
///
/// A contract is named by its full type, such as `Shop.UserHandler`.
public enum FacadeError: Error, Equatable, Sendable {
  /// Nothing is registered for the contract.
  case unregistered(contract: String)
  /// The contract's implementation was held weakly and is gone.
  case vanished(contract: String)
  /// The contract already has an implementation; use `replace` to replace it.
  case alreadyRegistered(contract: String)
  /// A value of a value type, named here, cannot be held weakly.
  case notAnObject(type: String)
}

extension FacadeError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch self {
    case .unregistered(let contract): "nothing is registered for \(contract)"
    case .vanished(let contract): "the implementation of \(contract) is gone"
    case .alreadyRegistered(let contract): "\(contract) already has an implementation"
    case .notAnObject(let type): "\(type) is a value type, and only objects can be held weakly"
    }
  }
}
