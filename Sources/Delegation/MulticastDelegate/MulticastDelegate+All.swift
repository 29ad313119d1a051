// Asks all delegates at the same time.

extension MulticastDelegate {
  /// Asks all delegates at the same time, each at its place.
  ///
  ///     let ready = await events.all((any PlayerEvents).prepare, 8)
  ///     print(ready.values, ready.errors)
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that returns a value.
  ///   - arguments: its arguments, without labels.
  /// - Returns: one result for each delegate, in the order in which they were added. Delegates that
  ///   die or are removed before their turn, or whose turn has not come when the task is cancelled,
  ///   have none.
  public func all<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method: @escaping @Sendable (Delegate) -> (repeat each Argument) throws(Failure) -> Answer,
    _ arguments: repeat each Argument
  ) async -> Answers<Answer, Failure> {
    await gather { seat in await self.ask(seat, method, repeat each arguments) }
  }

  /// Asks all delegates at the same time, with an asynchronous method.
  ///
  /// The calls begin in turn, and continue alongside later calls of the same delegate. The method
  /// runs in its own isolation; if it has none, at the place of the delegate.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that returns a value.
  ///   - arguments: its arguments, without labels.
  /// - Returns: one result for each delegate, as with a synchronous method.
  public func all<each Argument: Sendable, Answer: Sendable, Failure: Error>(
    _ method:
      @escaping @Sendable (Delegate) -> (repeat each Argument) async throws(Failure) -> Answer,
    _ arguments: repeat each Argument
  ) async -> Answers<Answer, Failure> {
    await gather { seat in await self.ask(seat, method, repeat each arguments) }
  }

  private func gather<Answer: Sendable, Failure: Error>(
    _ ask: @escaping @Sendable (DelegateSeat) async -> Result<Answer, Failure>?
  ) async -> Answers<Answer, Failure> {
    let seats = table.seats
    return await withTaskGroup(of: (Int, Result<Answer, Failure>?).self) { group in
      for (index, seat) in seats.enumerated() {
        // Immediately, so that the calls are queued in the order in which they were made.
        group.addImmediateTask { (index, await ask(seat)) }
      }
      var results = [Result<Answer, Failure>?](repeating: nil, count: seats.count)
      for await (index, result) in group { results[index] = result }
      return Answers(results.compactMap { $0 })
    }
  }
}

/// The results of all delegates, in the order in which they were added.
public struct Answers<Value: Sendable, Failure: Error>: Sendable {
  /// The results, one for each delegate that was asked.
  public let results: [Result<Value, Failure>]

  init(_ results: [Result<Value, Failure>]) {
    self.results = results
  }

  /// The values only.
  public var values: [Value] {
    results.compactMap { try? $0.get() }
  }

  /// The errors only.
  public var errors: [Failure] {
    results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }
}

extension Answers: RandomAccessCollection {
  /// The index of the first result.
  public var startIndex: Int { results.startIndex }

  /// The index after the last result.
  public var endIndex: Int { results.endIndex }

  /// The result at an index.
  public subscript(position: Int) -> Result<Value, Failure> { results[position] }
}

extension Answers where Value == Bool {
  /// Counts the answers as votes. Errors abstain.
  ///
  /// - Parameter rule: the rule.
  /// - Returns: whether the vote is won.
  public func vote(_ rule: Vote) -> Bool {
    rule.decide(values)
  }
}
