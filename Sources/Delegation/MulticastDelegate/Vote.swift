// Decides by the votes of delegates.

/// What it takes to win a vote.
public enum Vote: Sendable {
  /// Nobody is against it. Without delegates it is won.
  case unanimous
  /// More are for it than against it. Without delegates it is lost.
  case majority
  /// Somebody is for it. Without delegates it is lost.
  case any

  /// Decides a vote, asking for no more votes than it needs.
  func decide(_ votes: some Sequence<Bool>) -> Bool {
    switch self {
    case .unanimous: !votes.contains(false)
    case .majority: votes.reduce(0) { $0 + ($1 ? 1 : -1) } > 0
    case .any: votes.contains(true)
    }
  }
}

extension MulticastDelegate {
  /// Lets the delegates vote, on the thread of the caller.
  ///
  ///     let mayStop = events.vote(.unanimous, (any PlayerEvents).shouldStop)
  ///
  /// No more delegates are asked than it takes. The calls go past the places of the delegates, as
  /// with `first`; to let them vote at their places, use `await events.all(…).vote(rule)`.
  ///
  /// - Parameters:
  ///   - rule: what it takes.
  ///   - method: a method of the protocol that returns true or false.
  ///   - arguments: its arguments, without labels.
  /// - Returns: whether the vote is won.
  public func vote<each Argument>(
    _ rule: Vote, _ method: (Delegate) -> (repeat each Argument) -> Bool,
    _ arguments: repeat each Argument
  ) -> Bool {
    withoutActuallyEscaping(method) { method in
      rule.decide(
        table.seats.lazy.compactMap { seat in
          self.ask(seat) { delegate in method(delegate)(repeat each arguments) }
        })
    }
  }
}
