// Follows the records of a name, whatever becomes of the file.

/// A position among the records of a name.
package struct StoredPosition: Sendable {
  /// The number of the last record before it.
  package var number: UInt64 = 0

  /// The identity of the store, 0 while it is not known.
  package var identity: Int64 = 0

  /// The file of the store, `nil` while it is not known. A copy has the same identity.
  var file: FileID?

  package init(number: UInt64 = 0, identity: Int64 = 0) {
    (self.number, self.identity) = (number, identity)
  }

  /// Whether both are, or may be, positions in the same store.
  func isComparable(to other: Self) -> Bool {
    identity == other.identity || identity == 0 || other.identity == 0
  }

  /// Whether they are positions in different files: a store and its copy, if both are comparable.
  func isInOtherFile(than other: Self) -> Bool {
    guard let file, let known = other.file else { return false }
    return file != known
  }
}

extension MessageStore {
  /// Returns the records after a position, as many as a reader has in memory at a time.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - position: the position. If the file was replaced or an earlier state was restored, it is
  ///     corrected first. It does not move past the records.
  ///   - limit: how long it may take.
  /// - Returns: the records, and whether others may have been missed.
  /// - Throws: ``WormholeError``.
  package func records(
    of name: String, following position: inout StoredPosition, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> (batch: StoredBatch, mayHaveMissed: Bool) {
    var (batch, mayHaveMissed) = (try page(of: name, after: position.number, limit), true)
    let found = batch.position(after: 0)
    if !found.isComparable(to: position) {
      // The store was replaced. The new one counts from 1 again.
      position = found
      batch = try page(of: name, after: 0, limit)
    } else if batch.last < position.number || found.isInOtherFile(than: position), batch.last > 0 {
      // Somebody has restored an earlier state. The newest record, at least, is new: it was the
      // reason to look.
      position.number = min(position.number, batch.last - 1)
      batch = try page(of: name, after: position.number, limit)
    } else {
      mayHaveMissed = false
    }
    if batch.identity != 0 { position = batch.position(after: position.number) }
    return (batch, mayHaveMissed)
  }

  private func page(
    of name: String, after number: UInt64, _ limit: WorkLimit?
  ) throws(WormholeError) -> StoredBatch {
    try records(of: name, after: number, limit: StoredBatch.maxCount, within: limit)
  }
}
