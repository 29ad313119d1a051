// Stores the registrations of named listeners.

/// The registrations of named listeners, by what they listen for.
///
/// Whatever leaves the table is returned, so that it ends after the lock is released: ending a
/// registration runs user code.
package struct ListenerTable<Name: Hashable & Sendable, Registration: Sendable>: Sendable {
  /// A listener that is being bound. If it is unbound meanwhile, it stays unbound.
  package final class Binding: Sendable {
    fileprivate let listener: ExactString
    fileprivate let name: Name

    fileprivate init(_ listener: String, to name: Name) {
      self.listener = ExactString(listener)
      self.name = name
    }
  }

  private struct State {
    var table: [Name: [ExactString: Registration]] = [:]
    var bindings: [Binding] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Removes the registration of a listener from the table and returns it.
  package func take(_ listener: String, from name: Name) -> Registration? {
    state.withLock { state in
      let listener = ExactString(listener)
      state.bindings.removeAll { $0.name == name && $0.listener == listener }
      let registration = state.table[name]?.removeValue(forKey: listener)
      if state.table[name]?.isEmpty == true {
        state.table[name] = nil
      }
      return registration
    }
  }

  /// Returns the registration of a listener, which stays in the table.
  package func find(_ listener: String, of name: Name) -> Registration? {
    state.withLock { $0.table[name]?[ExactString(listener)] }
  }

  /// Removes the registrations of all listeners of a name from the table and returns them.
  package func takeAll(from name: Name) -> [Registration] {
    state.withLock { state in
      state.bindings.removeAll { $0.name == name }
      return state.table.removeValue(forKey: name).map { Array($0.values) } ?? []
    }
  }

  /// Puts a registration into the table. Returns the one it replaced.
  package func put(
    _ registration: Registration, for listener: String, of name: Name
  ) -> Registration? {
    state.withLock { state in
      state.table[name, default: [:]].updateValue(registration, forKey: ExactString(listener))
    }
  }

  /// Notes that a listener is being bound, until the binding ends.
  package func begin(_ listener: String, of name: Name) -> Binding {
    let binding = Binding(listener, to: name)
    state.withLock { $0.bindings.append(binding) }
    return binding
  }

  /// Ends the binding of a listener by putting its registration into the table. Returns the
  /// registration that must end: the one it replaced, or this one if the listener was unbound
  /// meanwhile.
  package func end(_ binding: Binding, with registration: Registration) -> Registration? {
    state.withLock { state in
      guard let index = state.bindings.firstIndex(where: { $0 === binding }) else {
        return registration
      }
      state.bindings.remove(at: index)
      return state.table[binding.name, default: [:]]
        .updateValue(registration, forKey: binding.listener)
    }
  }

  /// Ends the binding of a listener that could not be bound.
  package func end(_ binding: Binding) {
    state.withLock { $0.bindings.removeAll { $0 === binding } }
  }
}
