// Lets delegates vote.

/// The rule that decides a vote.
public enum Vote: Sendable {
  /// Won if nobody is against. Without delegates it is won.
  case unanimous
  /// Won if more are for it than against. Without delegates it is lost.
  case majority
  /// Won if somebody is for it. Without delegates it is lost.
  case any

  /// Decides a vote, taking no more votes than it needs.
  func decide(_ votes: some Sequence<Bool>) -> Bool {
    switch self {
    case .unanimous: !votes.contains(false)
    case .majority: votes.reduce(0) { $0 + ($1 ? 1 : -1) } > 0
    case .any: votes.contains(true)
    }
  }
}

extension MulticastDelegate {
  /// Lets the delegates vote, on the caller's thread.
  ///
  ///     let mayStop = events.vote(.unanimous, (any PlayerEvents).shouldStop)
  ///
  /// No more delegates are asked than needed. The calls bypass the places of the delegates, as with
  /// `first`; to let them vote at their places, use `await events.all(…).vote(rule)`.
  ///
  /// - Parameters:
  ///   - rule: the rule.
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
