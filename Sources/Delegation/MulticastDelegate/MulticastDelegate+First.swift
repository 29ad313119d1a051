// Asks delegates until one has an answer.

extension MulticastDelegate {
  /// Asks the delegates one after the other, on the caller's thread, until one has an answer.
  ///
  ///     let seconds = events.first((any PlayerEvents).position, 7)
  ///
  /// The calls bypass the places of the delegates and may overlap with calls there; use
  /// `firstAsync` to ask at those places.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that returns a value. `nil` is no answer.
  ///   - arguments: its arguments, without labels.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the method throws; no further delegate is then asked.
  public func first<each Argument, Answer, Failure: Error>(
    _ method: (Delegate) -> (repeat each Argument) throws(Failure) -> Answer?,
    _ arguments: repeat each Argument
  ) throws(Failure) -> Answer? {
    for seat in table.seats {
      let answer = try ask(seat) { (delegate) throws(Failure) in
        try method(delegate)(repeat each arguments)
      }
      if let answer { return answer }
    }
    return nil
  }

  /// Asks the delegates one after the other, each at its place, until one has an answer.
  ///
  /// It waits for each delegate in turn. A cancelled task asks no further delegates.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that returns a value. `nil` is no answer.
  ///   - arguments: its arguments, without labels.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the method throws; no further delegate is then asked.
  public func firstAsync<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method: @escaping @Sendable (Delegate) -> (repeat each Argument) throws(Failure) -> Answer?,
    _ arguments: repeat each Argument
  ) async throws(Failure) -> Answer? {
    for seat in table.seats {
      if let answer = try await ask(seat, method, repeat each arguments)?.get() { return answer }
    }
    return nil
  }

  /// Asks the delegates one after the other until one has an answer, with an asynchronous method.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that returns a value. `nil` is no answer.
  ///   - arguments: its arguments, without labels.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the method throws; no further delegate is then asked.
  public func firstAsync<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method:
      @escaping @Sendable (Delegate) -> (repeat each Argument) async throws(Failure) -> Answer?,
    _ arguments: repeat each Argument
  ) async throws(Failure) -> Answer? {
    for seat in table.seats {
      if let answer = try await ask(seat, method, repeat each arguments)?.get() { return answer }
    }
    return nil
  }
}
