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
  private func append(
    _ letter: Letter, holding lock: borrowing FileLock
  ) throws(WormholeError) -> UInt64 {
    var state = MailboxState(descriptor: lock.descriptor) ?? stateFromMessage()
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
    case .cleared:
      state.cleared = stamp
      try write(state, lock)
      try message.remove(durable: isDurable)
    case .unreadable(let error):
      throw error
    }
    return stamp.number
  }

  private func write(
    _ state: MailboxState, _ lock: borrowing FileLock
  ) throws(WormholeError) {
    try state.write(to: lock.descriptor, path: statePath)
    guard !isDurable || fdatasync(lock.descriptor) == 0 else {
      throw .system(code: errno, path: statePath)
    }
  }

  /// The state of a mailbox that has none yet, or has lost it.
  private func stateFromMessage() -> MailboxState {
    MailboxState(of: try? message.readHeader())
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
    var (message, failure): (ReadableMessage?, WormholeError?)
    do throws(WormholeError) {
      message = try readableMessage(after: number)
    } catch {
      failure = error
    }
    // As a rule the next letter is a message: whether there is more is found out behind it.
    if let message, message.letter.number == number &+ 1 {
      return LetterBatch([message.letter], hasMore: true, identity: message.identity)
    }
    guard let state = try readState() else {
      return LetterBatch([message?.letter].compactMap(\.self), hasMore: false)
    }
    var letters = [state.ping.letter(.ping), state.cleared.letter(.cleared)]
    if let failure { letters.append(try letter(of: failure, state)) }
    if let letter = message?.letter, letter.number > state.cleared.number { letters.append(letter) }
    let news = letters.filter { $0.number > number }.sorted { $0.number < $1.number }
    return LetterBatch(
      Array(news.prefix(limit)), hasMore: news.count > limit, identity: state.identity)
  }

  func lastMessage() throws(WormholeError) -> NumberedLetter? {
    guard isCoordinated, let lock = try lockForReading() else {
      return try newestMessage(try readState())
    }
    return try newestMessage(holding: lock)
  }

  /// What somebody is about to put in does not count yet, though it has its number already.
  func lastNumber() throws(WormholeError) -> UInt64 {
    let state = try readState()
    return max(visibleNumber(state), state?.ping.number ?? 0, state?.cleared.number ?? 0)
  }

  func identity() throws(WormholeError) -> UInt32 {
    try readState()?.identity ?? 0
  }

  /// The number of the message that is there.
  private func visibleNumber(_ state: MailboxState?) -> UInt64 {
    do throws(WormholeError) {
      return try message.readHeader()?.number ?? 0
    } catch {
      return state?.message.number ?? 0
    }
  }

  /// Waits for those who are about to write. Where nobody has ever written there is no lock.
  private func lockForReading() throws(WormholeError) -> FileLock? {
    do throws(WormholeError) {
      return try FileLock(.shared, statePath)
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
    try newestMessage(MailboxState(descriptor: lock.descriptor))
  }

  /// Returns the message in the file; one that was taken away, but not yet removed, is none.
  private func newestMessage(_ state: MailboxState?) throws(WormholeError) -> NumberedLetter? {
    do throws(WormholeError) {
      return try readableMessage(after: state?.cleared.number ?? 0)?.letter
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
    stamp.number = visibleNumber(state)
    return stamp.letter(.unreadable(error))
  }
}
