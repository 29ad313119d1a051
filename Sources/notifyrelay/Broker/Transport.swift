// Connects to a broker, and moves bytes.

import Glibc

/// A connection that never blocks, with TLS if the broker is to use it.
final class Transport: @unchecked Sendable {
  // The thread that connected it hands it over.
  let descriptor: CInt
  private let broker: BrokerAddress
  private var session: TLSSession?

  /// How long connecting may take for each address of the broker.
  private static let seconds = 30

  private init(_ descriptor: CInt, _ broker: BrokerAddress) {
    (self.descriptor, self.broker) = (descriptor, broker)
  }

  deinit {
    close(descriptor)
  }

  /// Connects to the first address of the broker at which this succeeds. May take any length of
  /// time.
  static func open(_ broker: BrokerAddress, _ context: TLSContext?) throws(Failure) -> Transport {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var addresses: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(broker.host, "\(broker.port)", &hints, &addresses) == 0 else {
      throw .unresolved(broker)
    }
    defer { freeaddrinfo(addresses) }
    var failure = Failure.unresolved(broker)
    for address in sequence(first: addresses, next: { $0?.pointee.ai_next }) {
      guard let address else { break }
      do throws(Failure) {
        let transport = try connect(address.pointee, of: broker)
        if let context { try transport.encrypt(context) }
        return transport
      } catch { failure = error }
    }
    throw failure
  }

  private static func connect(
    _ address: addrinfo, of broker: BrokerAddress
  ) throws(Failure) -> Transport {
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.ai_family, type, 0)
    guard descriptor >= 0 else { throw .unreachable(broker, errno) }
    let transport = Transport(descriptor, broker)
    var on: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return transport }
    guard errno == EINPROGRESS else { throw .unreachable(broker, errno) }
    try transport.wait(POLLOUT, until: .now + .seconds(seconds))
    var (error, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
    guard error == 0 else { throw .unreachable(broker, error) }
    return transport
  }

  private func encrypt(_ context: TLSContext) throws(Failure) {
    guard let session = TLSSession(context, on: descriptor, with: broker) else {
      throw .tls(broker, "out of memory")
    }
    self.session = session
    let deadline = ContinuousClock.now + .seconds(Self.seconds)
    while true {
      switch session.connect(broker) {
      case .done: return
      case .wait(let isForWriting): try wait(isForWriting ? POLLOUT : POLLIN, until: deadline)
      case .failed(let failure): throw failure
      }
    }
  }

  private func wait(_ events: Int32, until deadline: ContinuousClock.Instant) throws(Failure) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
      let milliseconds = (deadline - .now) / .milliseconds(1)
      let count = poll(&entry, 1, CInt(max(0, milliseconds)))
      if count > 0 { return }
      if count == 0 { throw .unreachable(broker, ETIMEDOUT) }
      if errno != EINTR { throw .unreachable(broker, errno) }
    }
  }

  /// Reads into a buffer. Returns `nil` if nothing has arrived.
  func read(into buffer: inout [UInt8]) throws(Failure) -> Int? {
    let (session, descriptor, broker) = (session, descriptor, broker)
    return try result(
      of: buffer.withUnsafeMutableBytes { bytes in
        if let session { return session.read(bytes, broker) }
        let count = recv(descriptor, bytes.baseAddress, bytes.count, 0)
        return count == 0 ? .failed(.closed(broker)) : outcome(of: count)
      })
  }

  /// Writes some of the bytes. Returns their number, `nil` if none can be written now.
  func write(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int? {
    let (session, descriptor, broker) = (session, descriptor, broker)
    return try result(
      of: bytes.withUnsafeBytes { bytes in
        if let session { return session.write(bytes, broker) }
        let flags = CInt(MSG_NOSIGNAL)
        return outcome(of: send(descriptor, bytes.baseAddress, bytes.count, flags))
      })
  }

  private func outcome(of count: Int) -> TLSSession.Outcome {
    if count >= 0 { return .done(count) }
    let error = errno
    return switch error {
    case EAGAIN, EINTR: .wait(isForWriting: false)
    case ECONNRESET, EPIPE: .failed(.closed(broker))
    default: .failed(.unreachable(broker, error))
    }
  }

  private func result(of outcome: TLSSession.Outcome) throws(Failure) -> Int? {
    switch outcome {
    case .done(let count): count
    case .wait: nil
    case .failed(let failure): throw failure
    }
  }
}
