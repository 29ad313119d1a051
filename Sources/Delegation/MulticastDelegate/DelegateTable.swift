// Holds the delegates of a multicast.

internal import DarwinNotifySupport

/// The seats of the delegates, in the order in which they were added.
///
/// Weak references are never read under the lock: for a moment the reader may hold the last
/// reference, and freeing a delegate runs user code.
@usableFromInline final class DelegateTable: Sendable {
  private let table = Locked<[DelegateSeat]>([])

  /// All seats, some of which may have lost their delegates.
  @usableFromInline var seats: [DelegateSeat] { table.withLock { $0 } }

  /// Adds a seat. Returns false if its delegate already has one at the same place.
  func add(_ seat: DelegateSeat) -> Bool {
    // A dead delegate may have had the address of the new one.
    removeDead(seats.filter { $0.identity == seat.identity })
    return table.withLock { seats in
      guard !seats.contains(where: { $0.identity == seat.identity && $0.place == seat.place })
      else { return false }
      seats.append(seat)
      return true
    }
  }

  /// Closes and removes the seats that match. Returns the seats that had living delegates.
  func remove(where fits: (DelegateSeat) -> Bool) -> [DelegateSeat] {
    let chosen = Set(seats.filter(fits).map { ObjectIdentifier($0) })
    let removed = table.withLock { seats in
      let removed = seats.filter { chosen.contains(ObjectIdentifier($0)) }
      seats.removeAll { chosen.contains(ObjectIdentifier($0)) }
      return removed
    }
    for seat in removed { seat.close() }
    return removed.filter { $0.delegate != nil }
  }

  /// Removes the seats that have lost their delegates.
  @usableFromInline func removeDead() {
    removeDead(seats)
  }

  private func removeDead(_ candidates: [DelegateSeat]) {
    let dead = candidates.filter { $0.delegate == nil }
    guard !dead.isEmpty else { return }
    let identities = Set(dead.map { ObjectIdentifier($0) })
    table.withLock { seats in seats.removeAll { identities.contains(ObjectIdentifier($0)) } }
  }
}
