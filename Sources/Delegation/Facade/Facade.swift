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
/// Contracts are distinguished by type, not by the names of their methods. Every method may be
/// called on any thread. A call that is running while its implementation is replaced finishes with
/// the old one, which is then released.
public final class Facade: Sendable {
  /// Each value is a `Holder` of the contract that is its key.
  private let table = Locked<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Creates a façade without implementations.
  public init() {}

  /// Registers an implementation of a contract, held strongly.
  ///
  /// - Parameters:
  ///   - contract: the contract, such as `(any UserHandler).self`.
  ///   - implementation: the implementation.
  /// - Throws: ``DelegationError/alreadyRegistered`` if the contract has an implementation;
  ///   one that was held weakly and is gone does not count.
  public func register<Contract: Sendable>(
    _ contract: Contract.Type, _ implementation: Contract
  ) throws {
    try insert(Holder(implementation), for: contract)
  }

  /// Registers an implementation of a contract, held weakly.
  ///
  /// - Parameters:
  ///   - contract: the contract, such as `(any UserHandler).self`.
  ///   - implementation: an object that implements the contract.
  /// - Throws: ``DelegationError/alreadyRegistered``, ``DelegationError/notAnObject``.
  public func register<Contract: Sendable>(
    _ contract: Contract.Type, weak implementation: Contract
  ) throws {
    try insert(Holder(weak: implementation), for: contract)
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
    exchange(Holder(implementation), for: contract)?.current
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

  /// The implementation of a contract.
  ///
  /// - Parameter contract: the contract.
  /// - Throws: ``DelegationError/unregistered``, ``DelegationError/vanished``.
  public subscript<Contract: Sendable>(_ contract: Contract.Type) -> Contract {
    @inlinable get throws {
      guard let implementation = find(contract) else {
        throw DelegationError(.unregistered, contract)
      }
      guard let current = implementation.current else {
        throw DelegationError(.vanished, contract)
      }
      return current
    }
  }

  @inlinable func find<Contract: Sendable>(
    _ contract: Contract.Type
  ) -> Holder<Contract>? {
    find(ObjectIdentifier(contract)).map { unsafeDowncast($0, to: Holder<Contract>.self) }
  }

  @usableFromInline func find(_ contract: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    table.withLock { $0[contract] }
  }

  private func exchange<Contract: Sendable>(
    _ new: Holder<Contract>?, for contract: Contract.Type
  ) -> Holder<Contract>? {
    let old = table.withLock { table in
      let old = table[ObjectIdentifier(contract)]
      table[ObjectIdentifier(contract)] = new
      return old
    }
    return old.map { unsafeDowncast($0, to: Holder<Contract>.self) }
  }

  private func insert<Contract: Sendable>(
    _ new: Holder<Contract>, for contract: Contract.Type
  ) throws {
    while true {
      let old = find(contract)
      guard old?.current == nil else {
        throw DelegationError(.alreadyRegistered, contract)
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
