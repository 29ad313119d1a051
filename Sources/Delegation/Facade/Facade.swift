// Finds the implementation of a contract.

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
  /// - Throws: ``FacadeError/alreadyRegistered(contract:)`` if the contract has an implementation;
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
  /// - Throws: ``FacadeError/alreadyRegistered(contract:)``, ``FacadeError/notAnObject(type:)``.
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
  /// - Throws: ``FacadeError/notAnObject(type:)``.
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
  /// - Throws: ``FacadeError/unregistered(contract:)``, ``FacadeError/vanished(contract:)``.
  public subscript<Contract: Sendable>(_ contract: Contract.Type) -> Contract {
    @inlinable get throws(FacadeError) {
      guard let implementation = find(contract) else {
        throw .unregistered(contract: String(reflecting: contract))
      }
      guard let current = implementation.current else {
        throw .vanished(contract: String(reflecting: contract))
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
        throw .alreadyRegistered(contract: String(reflecting: contract))
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
