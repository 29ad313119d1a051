// Asks delegates whose methods are isolated to the main actor.

// Where a parameter has no isolation, the compiler treats such a method as one without isolation.
// So each way of asking has a separate form for them.
extension MulticastDelegate {
  /// Asks the delegates one after the other until one has an answer, on the main actor.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that is isolated to the main actor.
  ///   - arguments: its arguments, without labels.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the method throws; no further delegate is then asked.
  @MainActor public func first<each Argument, Answer, Failure: Error>(
    _ method: (Delegate) -> @MainActor (repeat each Argument) throws(Failure) -> Answer?,
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

  /// Asks the delegates one after the other until one has an answer, on the main actor.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that is isolated to the main actor.
  ///   - arguments: its arguments, without labels.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the method throws; no further delegate is then asked.
  public func firstAsync<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method:
      @escaping @Sendable (Delegate) ->
      @MainActor (repeat each Argument) throws(Failure) ->
      Answer?,
    _ arguments: repeat each Argument
  ) async throws(Failure) -> Answer? {
    try await firstAsync(Self.hopping(method), repeat each arguments)
  }

  /// Asks all delegates, on the main actor.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that is isolated to the main actor.
  ///   - arguments: its arguments, without labels.
  /// - Returns: one result for each delegate, in the order in which they were added.
  public func all<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method:
      @escaping @Sendable (Delegate) -> @MainActor (repeat each Argument) throws(Failure) -> Answer,
    _ arguments: repeat each Argument
  ) async -> Answers<Answer, Failure> {
    await all(Self.hopping(method), repeat each arguments)
  }

  /// Lets the delegates vote, on the main actor.
  ///
  /// - Parameters:
  ///   - rule: the rule.
  ///   - method: a method of the protocol that is isolated to the main actor.
  ///   - arguments: its arguments, without labels.
  /// - Returns: whether the vote is won.
  @MainActor public func vote<each Argument>(
    _ rule: Vote, _ method: (Delegate) -> @MainActor (repeat each Argument) -> Bool,
    _ arguments: repeat each Argument
  ) -> Bool {
    withoutActuallyEscaping(method) { method in
      vote(
        rule,
        { delegate in
          { (argument: repeat each Argument) in
            MainActor.assumeIsolated { method(delegate)(repeat each argument) }
          }
        }, repeat each arguments)
    }
  }

  /// Converts a method of the main actor to an asynchronous method that hops there.
  private static func hopping<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method:
      @escaping @Sendable (Delegate) -> @MainActor (repeat each Argument) throws(Failure) -> Answer
  ) -> @Sendable (Delegate) -> (repeat each Argument) async throws(Failure) -> Answer {
    { delegate in method(delegate) }
  }
}
