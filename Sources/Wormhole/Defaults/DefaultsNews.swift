// Finds new changes in the defaults of a group.

internal import DarwinNotify

/// The changes after a number, searched for at each change notification.
struct DefaultsNews: Sendable {
  let defaults: SharedDefaults
  let notifications: Notifications
  let start: Int64

  func makeIterator() -> Iterator {
    Iterator(defaults: defaults, notifications: notifications.makeAsyncIterator(), position: start)
  }

  /// Returns the position from which to search: the last change of a new file may have a lower
  /// number.
  static func start(_ number: Int64, in table: DefaultsTable?) throws(WormholeError) -> Int64 {
    try table?.lastNumber() ?? 0 < number ? 0 : number
  }

  /// Returns the last change of a value and its position, in any case or only if it comes after a
  /// given position. Deleting the file with all values counts as a change.
  static func change(
    of name: String, after number: Int64, inAnyCase: Bool, in table: DefaultsTable?
  ) throws(WormholeError) -> (DefaultsTable.Row?, Int64)? {
    let start = try start(number, in: table)
    let row = try table?.row(name)
    let isNew = start != number || row.map { $0.number > start } == true
    guard inAnyCase || isNew else { return nil }
    return (row, max(row?.number ?? start, start))
  }

  /// One iteration. Its only state is its position: the changes are in the file.
  struct Iterator {
    let defaults: SharedDefaults
    var notifications: Notifications.Iterator
    var position: Int64

    /// Searches; if there is nothing, waits and searches again. Returns what was found, or `nil`
    /// once the task is cancelled.
    ///
    /// `find` searches after a position, in the table, or `nil` if nothing was ever set. It returns
    /// what it found and its position.
    mutating func next<Found: Sendable>(
      isolation: isolated (any Actor)?,
      _ find: @escaping @Sendable (DefaultsTable?, Int64) throws(WormholeError) -> (Found, Int64)?
    ) async throws(WormholeError) -> Found? {
      while !Task.isCancelled {
        let position = position
        let found: (Found, Int64)?
        do throws(WormholeError) {
          found = try await defaults.readElsewhere { (table) throws(WormholeError) in
            try find(table, position)
          }
        } catch .cancelled {
          break
        }
        if let (found, position) = found {
          self.position = position
          return found
        }
        guard await notifications.next(isolation: isolation) != nil else { break }
      }
      return nil
    }
  }
}
