// Reads and changes the newest values of several names as one.

internal import DarwinNotifySupport

/// The newest values of the names of a store, as a body reads and changes them.
///
/// No lock is held while the body runs. Each read, and the commit, first checks whether anything
/// that was read before has changed. So everything that is read belongs to one state of the store.
package struct StoreTransaction {
  private let store: MessageStore
  private let limit: WorkLimit?
  private var found: [ExactString: MessageStore.NewestState] = [:]
  private var changes: [ExactString: StoredValue?] = [:]
  private var removesOthers = false

  /// Whether something that was read has been changed.
  fileprivate private(set) var isStale = false

  fileprivate init(_ store: MessageStore, _ limit: WorkLimit?) {
    (self.store, self.limit) = (store, limit)
  }

  /// Returns the newest message of a name as this transaction has left it, `nil` if there is none.
  ///
  /// - Throws: ``WormholeError/busy`` if something that was read before has changed. The
  ///   transaction then begins again.
  package mutating func content(of name: String) throws(WormholeError) -> StoredContent? {
    let key = ExactString(name)
    if let change = changes[key] { return change.map { .value($0) } }
    if removesOthers { return nil }
    if let state = found[key] { return state.newest?.content }
    guard let state = try read(name) else {
      isStale = true
      throw .busy(path: store.path, holder: StoreTransaction.others)
    }
    found[key] = state
    return state.newest?.content
  }

  /// Sets the newest value of a name; `nil` removes it.
  package mutating func set(_ value: StoredValue?, of name: String) throws(WormholeError) {
    try store.check(name)
    try RecordDraft(value).check()
    changes[ExactString(name)] = .some(value)
  }

  /// Removes the values of all names.
  package mutating func removeAll() {
    changes = [:]
    removesOthers = true
  }

  /// Reads a name, and everything that was read before. Returns `nil` if the latter has changed.
  private func read(_ name: String) throws(WormholeError) -> MessageStore.NewestState? {
    limit?.restartWaits()
    let state = try store.read(within: limit) {
      (connection) throws(WormholeError) -> MessageStore.NewestState? in
      guard try isCurrent(in: connection) else { return nil }
      return try MessageStore.NewestState(of: name, in: connection)
    }
    if let state { return state }
    // There is no store, or no longer one.
    return found.values.contains { $0.last > 0 } ? nil : MessageStore.NewestState()
  }

  private func isCurrent(in connection: SQLiteConnection) throws(WormholeError) -> Bool {
    for (name, state) in found {
      guard try state.isCurrent(of: name.text, in: connection) else { return false }
    }
    return true
  }

  /// Writes the changes. Returns false if something that was read has changed.
  fileprivate func commit() throws(WormholeError) -> Bool {
    guard !changes.isEmpty || removesOthers else { return true }
    limit?.restartWaits()
    let names = try store.write(within: limit, announcing: { $0 ?? [] }) {
      (connection) throws(WormholeError) -> [String]? in
      guard try isCurrent(in: connection) else { return nil }
      var changes = changes
      if removesOthers {
        for name in try connection.storedNames(prefix: "") where name.hasMessage {
          let key = ExactString(name.name)
          if changes[key] == nil { changes[key] = .some(nil) }
        }
      }
      let writer = RecordWriter(connection: connection)
      var names: [String] = []
      for (name, value) in changes where try writer.set(value, of: name.text).isNew {
        names.append(name.text)
      }
      return names
    }
    return names != nil
  }

  fileprivate static let others = "others that change the same values"
}

extension MessageStore {
  /// Reads and changes the newest values of several names. Others see all changes or none.
  ///
  /// - Parameters:
  ///   - limit: how long it may take.
  ///   - body: reads and changes values. It runs again if something that it read was changed.
  ///     No lock is held meanwhile.
  /// - Returns: what the body returned the last time.
  /// - Throws: what the body throws, ``WormholeError``. In that case, nothing has changed.
  package func transaction<Result>(
    within limit: WorkLimit? = nil, _ body: (inout StoreTransaction) throws -> Result
  ) throws -> Result {
    let limit = limit ?? WorkLimit()
    let deadline = Backoff(limit: limit).deadline
    while true {
      var transaction = StoreTransaction(self, limit)
      let result = Swift.Result { try body(&transaction) }
      if !transaction.isStale {
        let value = try result.get()
        if try transaction.commit() { return value }
      }
      guard .now < deadline else {
        throw limit.failure ?? .busy(path: path, holder: StoreTransaction.others)
      }
    }
  }

  /// Sets the newest value of a name; `nil` removes it. If it has that value, nothing changes.
  ///
  /// - Returns: the number of the record with the value, 0 for none, and the identity of the store.
  @discardableResult package func set(
    _ value: StoredValue?, of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> (number: UInt64, identity: Int64) {
    try check(name)
    try RecordDraft(value).check()
    let (record, identity) = try write(
      within: limit, announcing: { $0.0.isNew ? [name] : [] }
    ) { (connection) throws(WormholeError) in
      let record = try RecordWriter(connection: connection).set(value, of: name)
      return (record, try connection.storeIdentity())
    }
    return (record.number, identity)
  }
}

extension RecordWriter {
  /// Appends a value, or a clearing, unless it changes nothing.
  fileprivate func set(
    _ value: StoredValue?, of name: String
  ) throws(WormholeError) -> (number: UInt64, isNew: Bool) {
    let newest = try MessageStore.NewestState(of: name, in: connection).newest
    if newest?.content == value.map({ .value($0) }) { return (newest?.number ?? 0, false) }
    return (try append(RecordDraft(value), to: name), true)
  }
}

extension RecordDraft {
  fileprivate init(_ value: StoredValue?) {
    self.init(value.map { .value($0) } ?? .cleared)
  }
}
