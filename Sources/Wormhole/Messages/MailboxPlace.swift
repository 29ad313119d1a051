// Represents how far a reader has got.

/// A place in a mailbox.
struct MailboxPlace: Sendable {
  /// The number of the last record before it.
  var number: UInt64

  /// The identity of the mailbox, 0 while it is not known.
  var identity: UInt32

  /// Moves to after a record, perhaps of another mailbox.
  mutating func advance(to number: UInt64, in identity: UInt32) {
    let place = Self(number: number, identity: identity)
    self =
      isComparable(to: place) ? Self(number: max(self.number, number), identity: identity) : place
  }

  /// Whether both are, or may be, places in the same mailbox.
  func isComparable(to other: Self) -> Bool {
    identity == other.identity || identity == 0 || other.identity == 0
  }
}

/// Gets the place after the last message that a reader has delivered.
typealias PlaceHandler = @Sendable (MailboxPlace) -> Void
