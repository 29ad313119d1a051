// Remembers the observations of named listeners.

/// The observations of named listeners, by notification.
///
/// Whatever leaves the table is returned, so that it ends after the lock is released: the end of
/// an observation runs code of the user.
struct ListenerTable: Sendable {
  private let table = Locked<[NotificationName: [ExactString: Observation]]>([:])

  /// Takes the observation of a listener out of the table.
  func take(_ listener: String, from name: NotificationName) -> Observation? {
    table.withLock { table in
      let observation = table[name]?.removeValue(forKey: ExactString(listener))
      if table[name]?.isEmpty == true {
        table[name] = nil
      }
      return observation
    }
  }

  /// Takes the observations of all listeners of a notification out of the table.
  func takeAll(from name: NotificationName) -> [Observation] {
    table.withLock { table in
      table.removeValue(forKey: name).map { Array($0.values) } ?? []
    }
  }

  /// Puts an observation into the table. Returns the one that had its place.
  func put(
    _ observation: Observation, for listener: String, of name: NotificationName
  ) -> Observation? {
    table.withLock { table in
      table[name, default: [:]].updateValue(observation, forKey: ExactString(listener))
    }
  }

  /// Puts an observation back into the table, unless its place has been taken meanwhile.
  func putBack(
    _ observation: Observation, for listener: String, of name: NotificationName
  ) {
    table.withLock { table in
      let listener = ExactString(listener)
      if table[name]?[listener] == nil {
        table[name, default: [:]][listener] = observation
      }
    }
  }
}
