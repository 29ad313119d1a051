// Holds the answers of all delegates.

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
