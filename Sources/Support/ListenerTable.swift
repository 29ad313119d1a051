// Stores the registrations of named listeners.

/// The registrations of named listeners, by what they listen for.
///
/// Whatever leaves the table is returned, so that it ends after the lock is released: ending a
/// registration runs user code.
package struct ListenerTable<Name: Hashable & Sendable, Registration: Sendable>: Sendable {
  private let table = Locked<[Name: [ExactString: Registration]]>([:])

  package init() {}

  /// Removes the registration of a listener from the table and returns it.
  package func take(_ listener: String, from name: Name) -> Registration? {
    table.withLock { table in
      let registration = table[name]?.removeValue(forKey: ExactString(listener))
      if table[name]?.isEmpty == true {
        table[name] = nil
      }
      return registration
    }
  }

  /// Returns the registration of a listener, which stays in the table.
  package func find(_ listener: String, of name: Name) -> Registration? {
    table.withLock { $0[name]?[ExactString(listener)] }
  }

  /// Removes the registrations of all listeners of a name from the table and returns them.
  package func takeAll(from name: Name) -> [Registration] {
    table.withLock { table in
      table.removeValue(forKey: name).map { Array($0.values) } ?? []
    }
  }

  /// Puts a registration into the table. Returns the one it replaced.
  package func put(
    _ registration: Registration, for listener: String, of name: Name
  ) -> Registration? {
    table.withLock { table in
      table[name, default: [:]].updateValue(registration, forKey: ExactString(listener))
    }
  }

  /// Puts a registration back into the table, unless its place has been taken meanwhile.
  package func putBack(_ registration: Registration, for listener: String, of name: Name) {
    table.withLock { table in
      let listener = ExactString(listener)
      if table[name]?[listener] == nil {
        table[name, default: [:]][listener] = registration
      }
    }
  }
}
