// Keeps the newest message of a name in a file.

internal import FoundationEssentials
internal import Glibc

/// A mailbox of two files: `*.message` for the newest message, `*.mailbox` for the numbers.
struct FileMailbox: Wormhole.Mailbox {
  let name: String
  private let directory: String
  private let message: MessageFile
  private let statePath: String
  private let logPath: String
  private let isDurable: Bool
  private let isCoordinated: Bool
  private let keeper = DescriptorKeeper()

  init(_ name: String, in directory: String, durable: Bool, coordinated: Bool) {
    self.name = name
    self.directory = directory
    isDurable = durable
    isCoordinated = coordinated
    let file = "\(directory)/\(FileName(for: name).text)"
    message = MessageFile(path: file + FileSuffix.message)
    statePath = file + FileSuffix.mailbox
    logPath = file + FileSuffix.log
  }

  var transit: String {
    FileTransit(durable: isDurable, coordinated: isCoordinated).identifier
  }

  // MARK: - Writing

  func append(_ record: Wormhole.Record) throws(WormholeError) -> UInt64 {
    try append(record, holding: try lock())
  }

  func update<Failure: Error>(
    _ body: (Wormhole.NumberedRecord?) throws(Failure) -> Wormhole.Record?
  ) throws(WormholeError) -> Result<UInt64?, Failure> {
    guard isCoordinated else { throw .notCoordinated(name: name, transit: transit) }
    let lock = try lock()
    let newest = try newestMessage(holding: lock)
    switch Result(catching: { () throws(Failure) in try body(newest) }) {
    case .failure(let error): return .failure(error)
    case .success(nil): return .success(nil)
    case .success(let record?):
      try WorkLimit.check()
      return .success(try append(record, holding: lock))
    }
  }

  private func lock() throws(WormholeError) -> FileLock {
    if access(statePath, F_OK) != 0 { try refuseLog() }
    do throws(WormholeError) {
      return try FileLock(.exclusive, statePath, keeper: keeper)
    } catch let error where error == .system(code: ENOENT, path: statePath) {
      _ = try PrivateDirectory(directory)
      return try FileLock(.exclusive, statePath, keeper: keeper)
    }
  }

  /// The number is written first: a process that is killed then skips a number and leaves the old
  /// message. A clearing removes the message first: a process killed then has notified
  /// nobody.
  private func append(
    _ record: Wormhole.Record, holding lock: borrowing FileLock
  ) throws(WormholeError) -> UInt64 {
    let known = MailboxState(descriptor: lock.descriptor)
    var state = known ?? MailboxState(lastNumber: visibleNumber() ?? 0)
    // The number after the next one is never used: a record with it would not be read.
    guard state.lastNumber < .max - 1 else { throw .damaged(path: statePath) }
    let stamp = state.next(for: record)
    if let error = record.content.notStorable { throw error }
    switch record.content {
    case .value(let payload):
      state.message = stamp
      let header = try header(of: payload, stamp, in: state).encoded()
      try write(state, lock)
      try message.write(header, payload.data, durable: isDurable)
    case .ping:
      state.ping = stamp
      try write(state, lock)
      if known == nil { try adoptMessage(into: state) }
    case .cleared:
      state.cleared = stamp
      try message.remove(durable: isDurable)
      try write(state, lock)
    case .absent, .unreadable: break
    }
    return stamp.number
  }

  /// Adopts the message of a mailbox whose numbers were lost.
  private func adoptMessage(into state: MailboxState) throws(WormholeError) {
    guard let found = try? message.read(after: 0), found.header.name == name else { return }
    var header = found.header
    header.identity = state.identity
    try message.write(try header.encoded(), found.payload, durable: isDurable)
  }

  private func write(
    _ state: MailboxState, _ lock: borrowing FileLock
  ) throws(WormholeError) {
    try state.write(to: lock.descriptor, path: statePath)
    guard !isDurable || fdatasync(lock.descriptor) == 0 else {
      throw .system(code: errno, path: statePath)
    }
  }

  private func header(
    of payload: Wormhole.Payload, _ stamp: MailboxState.Stamp, in state: MailboxState
  ) -> MessageHeader {
    MessageHeader(
      number: stamp.number, time: stamp.time, sender: stamp.sender,
      payloadBytes: UInt64(payload.data.count),
      payloadChecksum: payload.data.withUnsafeBytes { checksum($0) },
      identity: state.identity, version: payload.version, codec: payload.codec, type: payload.type,
      name: name)
  }

  // MARK: - Reading

  func records(after number: UInt64, limit: Int) throws(WormholeError) -> Wormhole.RecordBatch {
    do throws(WormholeError) {
      return try recordsInPassing(after: number, limit: limit)
    } catch {
      // Readers look again later.
      return try whileNobodyWrites(timeout: .milliseconds(100)) { (state) throws(WormholeError) in
        let newest = try newestMessage(after: number, state)
        return batch(of: newest, state, after: number, limit: limit)
      }
    }
  }

  /// Throws also what is wrong with the message itself.
  private func recordsInPassing(
    after number: UInt64, limit: Int
  ) throws(WormholeError) -> Wormhole.RecordBatch {
    var newest = try readableMessage(after: number)
    // Usually the next record is a message. Whether there are more is found out afterwards.
    if let newest, newest.record.number == number &+ 1 {
      return Wormhole.RecordBatch([newest.record], hasMore: true, identity: newest.identity)
    }
    // The state before the message: a message with later records is then already in the file.
    let state = try readState()
    if newest?.record.number ?? number < state?.message.number ?? .max {
      newest = try readableMessage(after: number)
    }
    return batch(of: newest?.record, state, after: number, limit: limit)
  }

  /// Returns the records after a number.
  private func batch(
    of newest: Wormhole.NumberedRecord?, _ state: MailboxState?, after number: UInt64, limit: Int
  ) -> Wormhole.RecordBatch {
    let cleared = state?.cleared.number ?? 0
    let message = newest.flatMap { $0.number > cleared ? $0 : nil }
    let records = [state?.ping.record(.ping), state?.cleared.record(.cleared), message]
    let found = records.compactMap(\.self).filter { $0.number > number }
      .sorted { $0.number < $1.number }
    return Wormhole.RecordBatch(
      Array(found.prefix(limit)), hasMore: found.count > limit, identity: state?.identity ?? 0)
  }

  func lastMessage() throws(WormholeError) -> Wormhole.NumberedRecord? {
    if isCoordinated, let lock = try lockForReading() { return try newestMessage(holding: lock) }
    let cleared = try readState()?.cleared.number ?? 0
    do throws(WormholeError) {
      return try readableMessage(after: cleared)?.record
    } catch {
      return try whileNobodyWrites { (state) throws(WormholeError) in
        try newestMessage(after: state?.cleared.number ?? 0, state)
      }
    }
  }

  /// A message that is being written does not count yet, though it has its number.
  func lastNumber() throws(WormholeError) -> UInt64 {
    let state = try readState()
    if let number = visibleNumber() { return lastNumber(state, ofMessage: number) }
    return try whileNobodyWrites { (state) throws(WormholeError) in
      lastNumber(state, ofMessage: visibleNumber() ?? state?.message.number ?? 0)
    }
  }

  private func lastNumber(_ state: MailboxState?, ofMessage number: UInt64) -> UInt64 {
    max(number, state?.ping.number ?? 0, state?.cleared.number ?? 0)
  }

  func identity() throws(WormholeError) -> UInt32 {
    try readState()?.identity ?? 0
  }

  /// Returns the number of the stored message, 0 if there is none, `nil` if it cannot be read.
  private func visibleNumber() -> UInt64? {
    do throws(WormholeError) {
      guard let header = try message.readHeader() else { return 0 }
      return header.name == name ? header.number : nil
    } catch {
      return nil
    }
  }

  /// Reads while no writer is active. A damaged message does not show its number, which is then the
  /// last one given out, unless that belongs to a message that is about to replace it.
  ///
  /// If a writer takes longer than the timeout, the reader fails as busy.
  private func whileNobodyWrites<Result>(
    timeout: Duration? = nil, _ body: (MailboxState?) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    let lock: FileLock?
    do throws(WormholeError) {
      lock = try lockForReading(timeout: timeout)
    } catch .foreign {
      // Nobody can write it.
      return try body(try readState())
    }
    guard let lock else {
      try refuseLog()
      return try body(nil)
    }
    return try body(MailboxState(descriptor: lock.descriptor))
  }

  /// Waits for writers. If nobody has ever written there is no lock.
  private func lockForReading(timeout: Duration? = nil) throws(WormholeError) -> FileLock? {
    do throws(WormholeError) {
      return try FileLock(.shared, statePath, timeout: timeout)
    } catch let error where error == .system(code: ENOENT, path: statePath) {
      return nil
    }
  }

  private func readState() throws(WormholeError) -> MailboxState? {
    let descriptor = open(statePath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ELOOP else { throw .system(code: errno, path: statePath) }
      try refuseLog()
      return nil
    }
    defer { close(descriptor) }
    return MailboxState(descriptor: descriptor)
  }

  /// Makes sure that the other processes do not use a log for the name.
  private func refuseLog() throws(WormholeError) {
    guard access(logPath, F_OK) != 0 else {
      throw .otherTransit(name: name, used: "file", found: "log")
    }
  }

  private func newestMessage(
    holding lock: borrowing FileLock
  ) throws(WormholeError) -> Wormhole.NumberedRecord? {
    let state = MailboxState(descriptor: lock.descriptor)
    return try newestMessage(after: state?.cleared.number ?? 0, state)
  }

  /// Returns the message in the file, if its number is greater than another.
  private func newestMessage(
    after number: UInt64, _ state: MailboxState?
  ) throws(WormholeError) -> Wormhole.NumberedRecord? {
    do throws(WormholeError) {
      return try readableMessage(after: number)?.record
    } catch {
      return try record(of: error, state)
    }
  }

  private typealias ReadableMessage = (record: Wormhole.NumberedRecord, identity: UInt32)

  private func readableMessage(
    after number: UInt64
  ) throws(WormholeError) -> ReadableMessage? {
    guard let (header, payload) = try message.read(after: number) else { return nil }
    guard header.name == name else { throw .foreign(path: message.path) }
    let content = Wormhole.Content.value(
      Wormhole.Payload(
        codec: header.codec, type: header.type, version: header.version, data: payload))
    let record = Wormhole.Record(
      content, date: Date(nanoseconds: header.time), sender: header.sender)
    return (Wormhole.NumberedRecord(number: header.number, record: record), header.identity)
  }

  /// A damaged message is reported to its readers as a record; a failed system call is an error.
  private func record(
    of error: WormholeError, _ state: MailboxState?
  ) throws(WormholeError) -> Wormhole.NumberedRecord {
    if error.mayPass { throw error }
    var stamp = state?.message ?? MailboxState.Stamp()
    stamp.number = visibleNumber() ?? stamp.number
    return stamp.record(.unreadable(error))
  }
}
