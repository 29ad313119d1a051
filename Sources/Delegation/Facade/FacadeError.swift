// Says why a façade has no implementation to give.

/// What can go wrong with the contracts of a ``Facade``.
///
/// A contract is named by its full type, such as `Shop.UserHandler`.
public enum FacadeError: Error, Equatable, Sendable {
  /// Nothing is registered for the contract.
  case unregistered(contract: String)
  /// The contract's implementation was held weakly, and is gone.
  case vanished(contract: String)
  /// The contract has an implementation already; replacing it has to be asked for.
  case alreadyRegistered(contract: String)
  /// A value of a value type cannot be held weakly. It has the name of the type.
  case notAnObject(type: String)
}

extension FacadeError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch self {
    case .unregistered(let contract): "nothing is registered for \(contract)"
    case .vanished(let contract): "the implementation of \(contract) is gone"
    case .alreadyRegistered(let contract): "\(contract) has an implementation already"
    case .notAnObject(let type): "\(type) is a value type, and only objects can be held weakly"
    }
  }
}
