// Ties the mailbox of a name to its change notification.

internal import DarwinNotify

/// The mailbox of one name and the notification of its changes.
struct Channel: Sendable {
  /// The name, for errors.
  let name: String
  let mailbox: any Wormhole.Mailbox
  let changeName: NotificationName
  let center: DarwinNotificationCenter

  /// Writes, and reads, for tasks.
  private let queues = (writing: WorkQueue(width: 1), reading: WorkQueue(width: 2))

  init(
    _ name: String, mailbox: any Wormhole.Mailbox, changeName: NotificationName,
    center: DarwinNotificationCenter
  ) {
    self.name = name
    self.mailbox = mailbox
    self.changeName = changeName
    self.center = center
  }

  /// Appends a record, then posts the change notification. Returns the number of the record.
  func send(_ content: Wormhole.Content<Wormhole.Payload>) throws(WormholeError) -> UInt64 {
    let number = try mailbox.append(Wormhole.Record(content))
    try center.notify(changeName)
    return number
  }

  /// Changes the newest value, then announces it.
  func update<Result, Failure: Error>(
    _ body: (Wormhole.NumberedRecord?) throws(Failure) -> (Wormhole.Record?, Result)
  ) throws(WormholeError) -> Swift.Result<Result, Failure> {
    var result: Result?
    let number = try mailbox.update { (newest) throws(Failure) in
      let (record, value) = try body(newest)
      result = value
      return record
    }
    if case .success(_?) = number { try center.notify(changeName) }
    return number.map { _ in
      guard let result else { preconditionFailure("the mailbox did not run the update") }
      return result
    }
  }

  /// Runs a job that writes, on a thread where it may block.
  func write<Value: Sendable, Failure: Error>(
    timeout: Duration?, _ job: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(WormholeError) -> Result<Value, Failure> {
    try await queues.writing.run(on: name, timeout: timeout) { Result(catching: job) }
  }

  /// Runs a job that reads, on a thread where it may block.
  func read<Value: Sendable, Failure: Error>(
    timeout: Duration? = nil, _ job: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(WormholeError) -> Result<Value, Failure> {
    try await queues.reading.run(on: name, timeout: timeout) { Result(catching: job) }
  }
}

/// Distinguishes the channels of a wormhole.
struct ChannelKey: Hashable {
  let name: ExactString
  private let transit: String

  init(_ name: String, _ transit: any MessageTransit) {
    self.name = ExactString(name)
    self.transit = transit.identifier
  }
}
