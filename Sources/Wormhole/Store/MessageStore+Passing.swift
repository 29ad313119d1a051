// Passes records to a store.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Glibc

extension MessageStore {
  /// Appends a record, then posts the change notification.
  ///
  /// - Parameters:
  ///   - draft: the record.
  ///   - name: the name, 1 to 255 bytes without a NUL.
  ///   - limit: how long it may take.
  /// - Returns: the number of the record.
  /// - Throws: ``WormholeError``. Except with `notification`, nothing was stored.
  @discardableResult package func pass(
    _ draft: RecordDraft, to name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> UInt64 {
    try check(name)
    try draft.check()
    return try write(within: limit, isDurable: draft.isDurable, announcing: { _ in [name] }) {
      (connection) throws(WormholeError) in
      try RecordWriter(connection: connection).append(draft, to: name)
    }
  }

  /// Removes the messages of a name. The removal is itself a record.
  @discardableResult package func clear(
    _ name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> UInt64 {
    try pass(RecordDraft(.cleared), to: name, within: limit)
  }

  /// Removes the messages of all names that begin with a text.
  ///
  /// - Returns: the names that had messages.
  @discardableResult package func clearAll(
    prefix: String = "", within limit: WorkLimit? = nil
  ) throws(WormholeError) -> [String] {
    let limit = limit ?? WorkLimit()
    let names = try names(prefix: prefix, within: limit).filter(\.hasMessage).map(\.name)
    for start in stride(from: 0, to: names.count, by: Self.clearedAtATime) {
      let some = names[start..<min(names.count, start + Self.clearedAtATime)]
      try write(within: limit, announcing: { _ in Array(some) }) {
        (connection) throws(WormholeError) in
        let writer = RecordWriter(connection: connection)
        for name in some { _ = try writer.append(RecordDraft(.cleared), to: name) }
      }
      limit.restartWaits()
    }
    return names
  }

  private static let clearedAtATime = 500

  /// Passes a record that is computed from the newest message. If another record comes first, tries
  /// again.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - limit: how long it may take.
  ///   - body: gets the newest message; returns the record, `nil` for none, and a result. It may
  ///     run more than once. No lock is held meanwhile.
  /// - Returns: what the body returned the last time.
  /// - Throws: what the body throws, ``WormholeError``. In that case, nothing has changed.
  package func update<Result>(
    _ name: String, within limit: WorkLimit? = nil,
    _ body: (StoredRecord?) throws -> (RecordDraft?, Result)
  ) throws -> Result {
    try check(name)
    let limit = limit ?? WorkLimit()
    let deadline = Backoff(limit: limit).deadline
    while true {
      let state = try newestState(of: name, within: limit)
      let (draft, result) = try body(state.newest)
      limit.restartWaits()
      guard let draft else { return result }
      try draft.check()
      if try passIfUnchanged(draft, to: name, since: state, within: limit) { return result }
      guard .now < deadline else {
        throw limit.failure ?? .busy(path: path, holder: "others that update \(name)")
      }
    }
  }

  private func passIfUnchanged(
    _ draft: RecordDraft, to name: String, since state: NewestState, within limit: WorkLimit?
  ) throws(WormholeError) -> Bool {
    try write(within: limit, isDurable: draft.isDurable, announcing: { $0 ? [name] : [] }) {
      (connection) throws(WormholeError) in
      guard try state.isCurrent(of: name, in: connection) else { return false }
      _ = try RecordWriter(connection: connection).append(draft, to: name)
      return true
    }
  }

  // MARK: Notifications

  /// The Darwin name that is posted after changes of a name. All names of a store may share it.
  package func changeName(of name: String) -> NotificationName {
    NotificationName(file.post.hasSuffix(".") ? "\(file.post)\(name)" : file.post)
  }

  /// Posts the change notifications of names, each once.
  package func announce(_ names: some Sequence<String>) throws(WormholeError) {
    for changeName in Set(names.map { changeName(of: $0) }) { try center.notify(changeName) }
  }

  /// Calls a handler, which must not block, after each change of a name by any process.
  package func observe(
    _ name: String, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> NotificationObservation {
    try center.observe(changeName(of: name), handler)
  }

  // MARK: Checks

  package func check(_ name: String) throws(WormholeError) {
    guard !name.isEmpty, name.utf8.count <= Self.maxNameBytes, !name.utf8.contains(0) else {
      throw .invalidIdentifier
    }
  }

}

extension RecordDraft {
  package func check() throws(WormholeError) {
    switch content {
    case .value(let value):
      guard value.data.count <= StoredValue.maxBytes else {
        throw .tooLarge(bytes: value.data.count, limit: StoredValue.maxBytes)
      }
      let texts = [value.codec, value.type ?? "", sender.program ?? "", sender.machine ?? ""]
      if let text = texts.first(where: { $0.utf8.count > MessageStore.maxNameBytes }) {
        throw .tooLarge(bytes: text.utf8.count, limit: MessageStore.maxNameBytes)
      }
    case .ping, .cleared: break
    case .unreadable(let error): throw error
    }
  }
}

extension StoredSender {
  /// This process.
  package static var current: Self {
    Self(pid: getpid(), process: ProcessNumber.current, program: Sender.ownProgram)
  }
}

extension Sender {
  init(_ stored: StoredSender) {
    self.init(
      pid: stored.pid, number: stored.process, program: stored.program, machine: stored.machine)
  }
}
