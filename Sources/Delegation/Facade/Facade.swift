// Finds the implementation of a contract.

public import FoundationEssentials
internal import DarwinNotifySupport

/// One object in front of many contracts, each with an implementation that is registered for it.
///
/// A contract is a protocol, identified by its metatype:
///
///     protocol UserHandler: Sendable { func user(id: Int) async throws -> String }
///
///     let facade = Facade()
///     try facade.register((any UserHandler).self, UserService())
///     let user = try await facade[(any UserHandler).self].user(id: 100)
///
/// If the façade itself conforms, its callers need not know about it:
///
///     extension Facade: UserHandler {
///       public func user(id: Int) async throws -> String {
///         try await self[(any UserHandler).self].user(id: id)
///       }
///     }
///
///     let user = try await facade.user(id: 100)
///
/// Contracts are distinguished by type, not by the names of their methods. Every method may be
/// called on any thread. A call that is running while its implementation is replaced finishes with
/// the old one, which is then released.
public final class Facade: Sendable {
  /// Each value is an `Implementation` of the contract that is its key.
  private let table = Locked<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Creates a façade without implementations.
  public init() {}

  /// Registers an implementation of a contract, held strongly.
  ///
  /// - Parameters:
  ///   - contract: the contract, such as `(any UserHandler).self`.
  ///   - implementation: the implementation.
  /// - Throws: ``FacadeError/alreadyRegistered`` if the contract has an implementation;
  ///   one that was held weakly and is gone does not count.
  public func register<Contract: Sendable>(
    _ contract: Contract.Type, _ implementation: Contract
  ) throws(FacadeError) {
    try insert(Implementation(implementation), for: contract)
  }

  /// Registers an implementation of a contract, held weakly.
  ///
  /// - Parameters:
  ///   - contract: the contract, such as `(any UserHandler).self`.
  ///   - implementation: an object that implements the contract.
  /// - Throws: ``FacadeError/alreadyRegistered``, ``FacadeError/notAnObject``.
  public func register<Contract: Sendable>(
    _ contract: Contract.Type, weak implementation: Contract
  ) throws(FacadeError) {
    try insert(Implementation(weak: implementation), for: contract)
  }

  /// Replaces the implementation of a contract, if any, by one that is held strongly.
  ///
  /// - Parameters:
  ///   - contract: the contract.
  ///   - implementation: the new implementation.
  /// - Returns: the old implementation.
  @discardableResult public func replace<Contract: Sendable>(
    _ contract: Contract.Type, with implementation: Contract
  ) -> Contract? {
    exchange(Implementation(implementation), for: contract)?.current
  }

  /// Replaces the implementation of a contract, if any, by one that is held weakly.
  ///
  /// - Parameters:
  ///   - contract: the contract.
  ///   - implementation: an object that implements the contract.
  /// - Returns: the old implementation.
  /// - Throws: ``FacadeError/notAnObject``.
  @discardableResult public func replace<Contract: Sendable>(
    _ contract: Contract.Type, withWeak implementation: Contract
  ) throws(FacadeError) -> Contract? {
    exchange(try Implementation(weak: implementation), for: contract)?.current
  }

  /// Removes the implementation of a contract. If none is registered, nothing happens.
  ///
  /// - Parameter contract: the contract.
  /// - Returns: the implementation that was registered.
  @discardableResult public func unregister<Contract: Sendable>(
    _ contract: Contract.Type
  ) -> Contract? {
    exchange(nil, for: contract)?.current
  }

  /// Returns whether a contract has an implementation.
  ///
  /// - Parameter contract: the contract.
  /// - Returns: whether it has one.
  public func isRegistered<Contract: Sendable>(_ contract: Contract.Type) -> Bool {
    find(contract)?.current != nil
  }

  /// The implementation of a contract.
  ///
  /// - Parameter contract: the contract.
  /// - Throws: ``FacadeError/unregistered``, ``FacadeError/vanished``.
  public subscript<Contract: Sendable>(_ contract: Contract.Type) -> Contract {
    @inlinable get throws(FacadeError) {
      guard let implementation = find(contract) else {
        throw .unregistered(contract)
      }
      guard let current = implementation.current else {
        throw .vanished(contract)
      }
      return current
    }
  }

  @inlinable func find<Contract: Sendable>(
    _ contract: Contract.Type
  ) -> Implementation<Contract>? {
    find(ObjectIdentifier(contract)).map { unsafeDowncast($0, to: Implementation<Contract>.self) }
  }

  @usableFromInline func find(_ contract: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    table.withLock { $0[contract] }
  }

  private func exchange<Contract: Sendable>(
    _ new: Implementation<Contract>?, for contract: Contract.Type
  ) -> Implementation<Contract>? {
    let old = table.withLock { table in
      let old = table[ObjectIdentifier(contract)]
      table[ObjectIdentifier(contract)] = new
      return old
    }
    return old.map { unsafeDowncast($0, to: Implementation<Contract>.self) }
  }

  private func insert<Contract: Sendable>(
    _ new: Implementation<Contract>, for contract: Contract.Type
  ) throws(FacadeError) {
    while true {
      let old = find(contract)
      guard old?.current == nil else {
        throw .alreadyRegistered.of(contract)
      }
      // Unless another thread was faster: nothing of the old one may be called under the lock.
      let isInserted = table.withLock { table in
        guard table[ObjectIdentifier(contract)] === old else { return false }
        table[ObjectIdentifier(contract)] = new
        return true
      }
      if isInserted { return }
    }
  }
}

/// An error concerning the contracts of a ``Facade``.
///
/// A `catch` clause or a `switch` names it, as in `catch .unregistered`.
public struct FacadeError: Error, Equatable, Sendable {
  private enum Code {
    case unregistered, vanished, alreadyRegistered, notAnObject
  }

  private let code: Code

  /// The full name of the contract, such as `Shop.UserHandler`, or of the type that is refused.
  public private(set) var type: String?

  private init(_ code: Code) {
    self.code = code
  }

  /// Nothing is registered for the contract.
  public static let unregistered = Self(.unregistered)

  /// The contract's implementation was held weakly and is gone.
  public static let vanished = Self(.vanished)

  /// The contract already has an implementation; use `replace` to replace it.
  public static let alreadyRegistered = Self(.alreadyRegistered)

  /// A value of a value type, named in ``type``, cannot be held weakly.
  public static let notAnObject = Self(.notAnObject)

  /// Returns whether two errors are of the same kind, whatever their details:
  /// `catch .unregistered`.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  public static func ~= (pattern: Self, error: Self) -> Bool {
    pattern.code == error.code
  }

  // Disfavored, so that a pattern without a type is not ambiguous between this and another error.
  /// Lets a `catch` clause name one of these errors where other errors may also occur.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }

  /// Returns the error for a type.
  package func of(_ type: Any.Type) -> Self {
    var error = self
    error.type = String(reflecting: type)
    return error
  }

  @usableFromInline static func unregistered<Contract>(_ contract: Contract.Type) -> Self {
    unregistered.of(contract)
  }

  @usableFromInline static func vanished<Contract>(_ contract: Contract.Type) -> Self {
    vanished.of(contract)
  }
}

extension FacadeError: CustomStringConvertible, LocalizedError {
  /// A sentence for the log.
  public var description: String {
    let type = type ?? "the contract"
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

/// The implementation of a contract, held strongly or weakly.
@usableFromInline final class Implementation<Contract: Sendable>: Sendable {
  @usableFromInline let value: Contract?
  @usableFromInline nonisolated(unsafe) weak let object: AnyObject?
  // It never changes. Implementations are `Sendable`, which `AnyObject` does not express.

  init(_ value: Contract) {
    self.value = value
    object = nil
  }

  /// Holds an object weakly.
  init(weak value: Contract) throws(FacadeError) {
    guard type(of: value as Any) is AnyClass else {
      throw .notAnObject.of(type(of: value as Any))
    }
    self.value = nil
    object = value as AnyObject
  }

  /// The implementation, unless it is gone. Do not read it under a lock: for a moment the caller
  /// may have the last reference.
  @inlinable var current: Contract? { value ?? (object as? Contract) }
}
