// Keeps the newest message of a name in a file.

internal import Foundation

/// A mailbox of two files: `*.message` for the newest message, `*.mailbox` for the numbers.
struct FileMailbox: Mailbox {
  private let name: String
  private let directory: String
  private let message: MessageFile
  private let statePath: String
  private let isDurable: Bool
  private let isCoordinated: Bool
  private let keeper = DescriptorKeeper()

  static let messageSuffix = ".message"

  init(_ name: String, in directory: String, durable: Bool, coordinated: Bool) {
    self.name = name
    self.directory = directory
    isDurable = durable
    isCoordinated = coordinated
    let file = "\(directory)/\(FileName(for: name).text)"
    message = MessageFile(path: file + Self.messageSuffix)
    statePath = "\(file).mailbox"
  }

  // MARK: - Writing

  func append(_ letter: Letter) throws(WormholeError) -> UInt64 {
    try append(letter, holding: try lock())
  }

  func update(_ body: (NumberedLetter?) throws -> Letter?) throws -> UInt64? {
    guard isCoordinated else { throw WormholeError.notCoordinated }
    let lock = try lock()
    guard let letter = try body(newestMessage(holding: lock)) else { return nil }
    return try append(letter, holding: lock)
  }

  private func lock() throws(WormholeError) -> FileLock {
    do throws(WormholeError) {
      return try FileLock(.exclusive, statePath, keeper: keeper)
    } catch .system(code: ENOENT, path: statePath) {
      _ = try PrivateDirectory(directory)
      return try FileLock(.exclusive, statePath, keeper: keeper)
    }
  }

  /// The number is written first: who is killed then leaves one out, and the old message in place.
  /// A clearing takes the message away first: who is killed then has told nobody.
  private func append(
    _ letter: Letter, holding lock: borrowing FileLock
  ) throws(WormholeError) -> UInt64 {
    let known = MailboxState(descriptor: lock.descriptor)
    var state = known ?? MailboxState(lastNumber: visibleNumber() ?? 0)
    let stamp = state.next(for: letter)
    switch letter.content {
    case .message(let payload):
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
    case .unreadable(let error):
      throw error
    }
    return stamp.number
  }

  /// Makes the message that is there one of a mailbox whose numbers were lost.
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
    of payload: Payload, _ stamp: MailboxState.Stamp, in state: MailboxState
  ) -> MessageHeader {
    MessageHeader(
      number: stamp.number, time: stamp.time, sender: stamp.sender,
      payloadBytes: UInt64(payload.data.count),
      payloadChecksum: payload.data.withUnsafeBytes { checksum($0) },
      identity: state.identity, version: payload.version, codec: payload.codec, type: payload.type,
      name: name)
  }

  // MARK: - Reading

  func letters(after number: UInt64, limit: Int) throws(WormholeError) -> LetterBatch {
    do throws(WormholeError) {
      return try lettersInPassing(after: number, limit: limit)
    } catch {
      return try whileNobodyWrites { (state) throws(WormholeError) in
        let newest = try newestMessage(after: number, state)
        return batch(of: newest, state, after: number, limit: limit)
      }
    }
  }

  /// Throws what is wrong with the message, too.
  private func lettersInPassing(
    after number: UInt64, limit: Int
  ) throws(WormholeError) -> LetterBatch {
    var newest = try readableMessage(after: number)
    // As a rule the next letter is a message: whether there is more is found out behind it.
    if let newest, newest.letter.number == number &+ 1 {
      return LetterBatch([newest.letter], hasMore: true, identity: newest.identity)
    }
    // The state, then the message: one that has later letters behind it is in the file by then.
    let state = try readState()
    if newest?.letter.number ?? number < state?.message.number ?? .max {
      newest = try readableMessage(after: number)
    }
    return batch(of: newest?.letter, state, after: number, limit: limit)
  }

  /// Returns what there is behind a number.
  private func batch(
    of newest: NumberedLetter?, _ state: MailboxState?, after number: UInt64, limit: Int
  ) -> LetterBatch {
    let cleared = state?.cleared.number ?? 0
    let message = newest.flatMap { $0.number > cleared ? $0 : nil }
    let letters = [state?.ping.letter(.ping), state?.cleared.letter(.cleared), message]
    let news = letters.compactMap(\.self).filter { $0.number > number }
      .sorted { $0.number < $1.number }
    return LetterBatch(
      Array(news.prefix(limit)), hasMore: news.count > limit, identity: state?.identity ?? 0)
  }

  func lastMessage() throws(WormholeError) -> NumberedLetter? {
    if isCoordinated, let lock = try lockForReading() { return try newestMessage(holding: lock) }
    let cleared = try readState()?.cleared.number ?? 0
    do throws(WormholeError) {
      return try readableMessage(after: cleared)?.letter
    } catch {
      return try whileNobodyWrites { (state) throws(WormholeError) in
        try newestMessage(after: state?.cleared.number ?? 0, state)
      }
    }
  }

  /// What somebody is about to put in does not count yet, though it has its number already.
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

  /// Returns the number of the message that is there, 0 if there is none, `nil` if it does not say.
  private func visibleNumber() -> UInt64? {
    do throws(WormholeError) {
      guard let header = try message.readHeader() else { return 0 }
      return header.name == name ? header.number : nil
    } catch {
      return nil
    }
  }

  /// Reads what cannot be read in passing: a message that is damaged does not say its number. It
  /// has the one that was given out last, unless that belongs to a message which is about to take
  /// its place.
  ///
  /// Who is about to write for longer makes the reader busy: that looks again later.
  private func whileNobodyWrites<Result>(
    _ body: (MailboxState?) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    let lock: FileLock?
    do throws(WormholeError) {
      lock = try lockForReading(timeout: .milliseconds(100))
    } catch .foreign {
      // Nobody can write.
      return try body(try readState())
    }
    guard let lock else { return try body(nil) }
    return try body(MailboxState(descriptor: lock.descriptor))
  }

  /// Waits for those who are about to write. Where nobody has ever written there is no lock.
  private func lockForReading(
    timeout: Duration = FileLock.patience
  ) throws(WormholeError) -> FileLock? {
    do throws(WormholeError) {
      return try FileLock(.shared, statePath, timeout: timeout)
    } catch .system(code: ENOENT, path: statePath) {
      return nil
    }
  }

  private func readState() throws(WormholeError) -> MailboxState? {
    let descriptor = open(statePath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ELOOP else { throw .system(code: errno, path: statePath) }
      return nil
    }
    defer { close(descriptor) }
    return MailboxState(descriptor: descriptor)
  }

  private func newestMessage(
    holding lock: borrowing FileLock
  ) throws(WormholeError) -> NumberedLetter? {
    let state = MailboxState(descriptor: lock.descriptor)
    return try newestMessage(after: state?.cleared.number ?? 0, state)
  }

  /// Returns the message in the file, if its number is behind another.
  private func newestMessage(
    after number: UInt64, _ state: MailboxState?
  ) throws(WormholeError) -> NumberedLetter? {
    do throws(WormholeError) {
      return try readableMessage(after: number)?.letter
    } catch {
      return try letter(of: error, state)
    }
  }

  private typealias ReadableMessage = (letter: NumberedLetter, identity: UInt32)

  private func readableMessage(
    after number: UInt64
  ) throws(WormholeError) -> ReadableMessage? {
    guard let (header, payload) = try message.read(after: number) else { return nil }
    guard header.name == name else { throw .foreign(path: message.path) }
    let content = Letter.Content.message(
      Payload(codec: header.codec, type: header.type, version: header.version, data: payload))
    let letter = Letter(content, date: Date(nanoseconds: header.time), sender: header.sender)
    return (NumberedLetter(number: header.number, letter: letter), header.identity)
  }

  /// What is wrong with one message is told to its readers; the system's trouble is ours.
  private func letter(
    of error: WormholeError, _ state: MailboxState?
  ) throws(WormholeError) -> NumberedLetter {
    if case .system = error { throw error }
    var stamp = state?.message ?? MailboxState.Stamp()
    stamp.number = visibleNumber() ?? stamp.number
    return stamp.letter(.unreadable(error))
  }
}
