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
      return try FileLock(.exclusive, statePath)
    } catch .system(code: ENOENT, path: statePath) {
      _ = try PrivateDirectory(directory)
      return try FileLock(.exclusive, statePath)
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
      let header = header(of: payload, stamp)
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
    let header = try? message.readHeader()
    return MailboxState(lastNumber: header?.number ?? 0)
  }

  private func header(of payload: Payload, _ stamp: MailboxState.Stamp) -> MessageHeader {
    MessageHeader(
      number: stamp.number, time: stamp.time, sender: stamp.sender,
      payloadBytes: UInt64(payload.data.count),
      payloadChecksum: payload.data.withUnsafeBytes { checksum($0) },
      version: payload.version, codec: payload.codec, type: payload.type, name: name)
  }

  // MARK: - Reading

  func letters(after number: UInt64, limit: Int) throws(WormholeError) -> LetterBatch {
    let state = try readState()
    var letters: [NumberedLetter] = []
    // The file need not be looked at if the newest message is known.
    let isNews = state.map { $0.message.number > number } ?? true
    if isNews, let message = try newestMessage(state) { letters.append(message) }
    if let state {
      letters.append(state.ping.letter(.ping))
      letters.append(state.cleared.letter(.cleared))
    }
    let news = letters.filter { $0.number > number }.sorted { $0.number < $1.number }
    return LetterBatch(Array(news.prefix(limit)), hasMore: news.count > limit)
  }

  func lastMessage() throws(WormholeError) -> NumberedLetter? {
    guard isCoordinated, let lock = try lockForReading() else {
      return try newestMessage(try readState())
    }
    return try newestMessage(holding: lock)
  }

  func lastNumber() throws(WormholeError) -> UInt64 {
    if let state = try readState() { return state.lastNumber }
    return stateFromMessage().lastNumber
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
      guard let (header, payload) = try message.read(),
        header.number > state?.cleared.number ?? 0
      else { return nil }
      guard header.name == name else { throw .foreign(path: message.path) }
      let content = Letter.Content.message(
        Payload(codec: header.codec, type: header.type, version: header.version, data: payload))
      return NumberedLetter(
        number: header.number,
        letter: Letter(content, date: Date(nanoseconds: header.time), sender: header.sender))
    } catch {
      // What is wrong with one message is told to its readers; the system's trouble is ours.
      if case .system = error { throw error }
      let stamp = state?.message ?? MailboxState.Stamp()
      return stamp.letter(.unreadable(error))
    }
  }
}
