// Asks one delegate.

extension MulticastDelegate {
  /// Calls a method on the caller's thread. Returns `nil` if the delegate is gone.
  func ask<Answer, Failure: Error>(
    _ seat: DelegateSeat, here call: (Delegate) throws(Failure) -> Answer?
  ) throws(Failure) -> Answer? {
    guard seat.beginVisit() else { return nil }
    defer { seat.endVisit() }
    guard let delegate = seat.reference.get(as: Delegate.self) else { return nil }
    return try call(delegate)
  }

  /// Calls a method in turn. Returns `nil` if the delegate is already gone, or the task is
  /// cancelled first.
  func ask<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ seat: DelegateSeat,
    _ method: @escaping @Sendable (Delegate) -> (repeat each Argument) throws(Failure) -> Answer,
    _ arguments: repeat each Argument
  ) async -> Result<Answer, Failure>? {
    await seat.wait { reference, duty in
      guard let delegate = reference.get(as: Delegate.self) else { return }
      duty.fulfil(
        Result { () throws(Failure) in try method(delegate)(repeat each arguments) })
    }
  }

  /// Calls an asynchronous method in turn. Returns `nil` if the delegate is already gone, or the
  /// task is cancelled first.
  func ask<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ seat: DelegateSeat,
    _ method:
      @escaping @Sendable (Delegate) -> (repeat each Argument) async throws(Failure) -> Answer,
    _ arguments: repeat each Argument
  ) async -> Result<Answer, Failure>? {
    let delegate: Delegate? = await seat.wait { reference, duty in
      guard let delegate = reference.get(as: Delegate.self), seat.beginVisit() else { return }
      if !duty.fulfil(delegate) { seat.endVisit() }
    }
    guard let delegate else { return nil }
    defer { seat.endVisit() }
    return await seat.visit {
      do throws(Failure) {
        return .success(try await method(delegate)(repeat each arguments))
      } catch {
        return .failure(error)
      }
    }
  }
}

extension DelegateSeat {
  /// Waits until a call provides a value; `nil` if it does not, or the task is cancelled.
  fileprivate func wait<Value: Sendable>(
    for call: @escaping @Sendable (DelegateReference, Duty<Value?>) -> Void
  ) async -> Value? {
    let promise = Promise<Value?>()
    return await withTaskCancellationHandler {
      do {
        let duty = Duty(to: promise, orElse: nil)
        post { reference in call(reference, duty) }
      }
      return await promise.value()
    } onCancel: {
      promise.provide(nil)
    }
  }
}

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
