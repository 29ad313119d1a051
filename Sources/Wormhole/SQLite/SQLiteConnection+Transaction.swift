// Runs transactions.

extension SQLiteConnection {
  /// The kind of a transaction.
  enum TransactionKind: String {
    /// It sees the database as of its first statement, and waits for nobody.
    case deferred = "BEGIN DEFERRED"

    /// Only one such transaction runs at a time; it may write.
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs a body as a transaction, which an error of the body rolls back.
  ///
  /// The body cannot end it. If SQLite does, because of an error, the body cannot run anything
  /// else.
  ///
  /// - Returns: what the body returns or throws.
  /// - Throws: errors outside the body. Nothing has changed then.
  func transaction<Value, Failure: Error>(
    _ kind: TransactionKind, _ body: () throws(Failure) -> Value
  ) throws(WormholeError) -> Result<Value, Failure> {
    try execute(kind.rawValue)
    isInBody = true
    let result = Result(catching: body)
    isInBody = false
    guard isInTransaction else {
      if case .failure = result { return result }
      throw .database(code: sqliteHasRolledBack, message: "the transaction was ended inside")
    }
    switch result {
    case .success:
      do throws(WormholeError) {
        try execute("COMMIT")
      } catch {
        rollBack()
        throw error
      }
    case .failure:
      rollBack()
    }
    return result
  }

  /// Some errors, such as a full disk, have rolled back already.
  private func rollBack() {
    if isInTransaction { try? executeInAnyCase("ROLLBACK") }
  }
}
