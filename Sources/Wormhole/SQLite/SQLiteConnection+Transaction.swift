// Runs several statements as one.

internal import CSQLite

extension SQLiteConnection {
  /// What a transaction begins with.
  enum Beginning: String {
    /// It sees the database as it is at its first statement, and waits for nobody.
    case deferred = "BEGIN DEFERRED"

    /// It is alone with the right to write.
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs a body as a transaction, which ends with an error of the body as if it had never been.
  ///
  /// The body cannot end it. If SQLite does, for an error, the body can run nothing more.
  ///
  /// - Returns: what the body returns or throws.
  /// - Throws: what goes wrong around the body. Nothing has changed then.
  func transaction<Value, Failure: Error>(
    _ beginning: Beginning, _ body: () throws(Failure) -> Value
  ) throws(WormholeError) -> Result<Value, Failure> {
    try execute(beginning.rawValue)
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
    if isInTransaction { try? execute("ROLLBACK") }
  }
}
