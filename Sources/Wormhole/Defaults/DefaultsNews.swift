// Finds out what is new in the settings of a group.

internal import DarwinNotify

/// The changes behind a number, looked for whenever the bell has rung.
struct DefaultsNews: Sendable {
  let defaults: SharedDefaults
  let notifications: Notifications
  let start: Int64

  func makeIterator() -> Iterator {
    Iterator(defaults: defaults, notifications: notifications.makeAsyncIterator(), position: start)
  }

  /// One iteration. It keeps nothing but its place: what has happened stands in the file.
  struct Iterator {
    let defaults: SharedDefaults
    var notifications: Notifications.Iterator
    var position: Int64

    /// Looks, and if there is nothing waits and looks again. Returns what was found, or `nil` once
    /// the task is cancelled.
    ///
    /// `find` looks behind a place, in a table unless nothing was ever set. It returns what it
    /// found and the place of that.
    mutating func next<Found>(
      isolation: isolated (any Actor)?,
      _ find: (DefaultsTable?, Int64) throws(WormholeError) -> (Found, Int64)?
    ) async throws(WormholeError) -> Found? {
      while !Task.isCancelled {
        // The last change of a file that was made anew has a low number again.
        let position = position
        let looked = try defaults.read { (table) throws(WormholeError) in
          let last = try table.lastNumber()
          return try find(table, last < position ? 0 : position)
        }
        let found = if let looked { looked } else { try find(nil, 0) }
        if let (found, place) = found {
          self.position = place
          return found
        }
        guard await notifications.next(isolation: isolation) != nil else { break }
      }
      return nil
    }
  }
}
