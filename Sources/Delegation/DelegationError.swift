// The errors of delegates and contracts.

public import DarwinNotifySupport
public import FoundationEssentials

/// Why a delegate or an implementation was refused, or why a contract has none.
public struct DelegationError: CodedError, Sendable {
  /// What happened.
  public enum Code: Sendable {
    /// Nothing is registered for the contract.
    case unregistered
    /// The contract's implementation was held weakly and is gone.
    case vanished
    /// The contract already has an implementation; use `replace` to replace it.
    case alreadyRegistered
    /// A value of a value type cannot be held weakly.
    case notAnObject
  }

  /// What happened.
  public let code: Code

  /// The full name of the contract, such as `Shop.UserHandler`, or of the type that is refused.
  public let type: String?

  @usableFromInline init(_ code: Code, _ type: (any Any.Type)? = nil) {
    self.code = code
    self.type = type.map { String(reflecting: $0) }
  }

  /// For `catch`: ``Code/unregistered``.
  public static let unregistered = Self(.unregistered)
  /// For `catch`: ``Code/vanished``.
  public static let vanished = Self(.vanished)
  /// For `catch`: ``Code/alreadyRegistered``.
  public static let alreadyRegistered = Self(.alreadyRegistered)
  /// For `catch`: ``Code/notAnObject``.
  public static let notAnObject = Self(.notAnObject)
}

extension DelegationError: CustomStringConvertible, LocalizedError {
  /// A sentence for the log.
  public var description: String {
    let type = type ?? "the type"
    return switch code {
    case .unregistered: "nothing is registered for \(type)"
    case .vanished: "the implementation of \(type) is gone"
    case .alreadyRegistered: "\(type) already has an implementation"
    case .notAnObject: "\(type) is a value type, and only objects can be held weakly"
    }
  }

  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}
