// Speaks MQTT 5 with a broker, through libmosquitto.

import CMosquitto
import FoundationEssentials
import Glibc

/// Receives the events of a connection.
protocol ConnectionDelegate: AnyObject {
  /// The message that the broker publishes if the next connection is lost.
  func makeWill() -> (topic: String, payload: Data)
  /// The broker has accepted the connection.
  func didConnect()
  func didLose(_ failure: Failure)
  func didReceive(_ message: Message)
  /// The broker has accepted or refused a published message.
  func didPublish(_ identifier: CInt, _ failure: Failure?)
  func didSubscribe(_ failure: Failure?)
}

/// A message from the broker.
struct Message {
  let topic: String
  let payload: Data
  /// Whether the broker had kept it before we subscribed.
  let isRetained: Bool
}

/// A connection that is made again when it is lost.
final class Connection {
  private let settings: RealmSettings
  private let origin: Origin
  private let loop: Loop
  private weak var delegate: (any ConnectionDelegate)?

  /// A new one for each attempt: nothing is left of the last one.
  private var client: OpaquePointer?
  private var descriptor: CInt = -1
  private var attempts = 0
  /// Why the broker has ended the connection.
  private var refusal: Failure?
  private var isEnding = false
  /// Whether libmosquitto has handed us a packet since it was last asked to read.
  private var hasRead = false
  /// The number of received messages that are not stored yet. Nothing is sent until they are.
  var unacknowledged = 0
  private var timer: String { "connection of \(settings.name)" }

  /// The connections, by the clients that libmosquitto passes to its callbacks.
  private nonisolated(unsafe) static var all: [OpaquePointer: Connection] = [:]
  // Used only by the thread that has the turn.

  private static let isReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

  /// How long the broker keeps what is for us while we are away: a week.
  fileprivate static let sessionSeconds: UInt32 = 7 * 24 * 3600

  init(
    _ settings: RealmSettings, as origin: Origin, on loop: Loop,
    delegate: any ConnectionDelegate
  ) throws(Mistake) {
    (self.settings, self.origin, self.loop) = (settings, origin, loop)
    self.delegate = delegate
    client = try makeClient()
  }

  /// Connects, and goes on trying. Names are resolved on another thread, which may take long.
  func open() {
    attempts += 1
    do { try renewClient() } catch { return retry(Failure(error)) }
    let (client, settings) = (UInt(bitPattern: client), settings)
    let started = runDetached { connect(OpaquePointer(bitPattern: client), settings) }
    guard let started else { return didOpen((MOSQ_ERR_NOMEM.rawValue, EAGAIN)) }
    loop.add(started) { [self] in
      loop.remove(started)
      didOpen(readResult(from: started))
    }
  }

  func subscribe(_ topics: [String], isOwn: Bool) {
    for topic in topics {
      // Without this option the broker would also send us what we publish.
      let options = isOwn ? 0 : CInt(MQTT_SUB_OPT_NO_LOCAL.rawValue)
      mosquitto_subscribe_v5(client, nil, topic, 1, options, nil)
    }
  }

  func unsubscribe(_ topics: [String]) {
    for topic in topics { mosquitto_unsubscribe(client, nil, topic) }
  }

  /// Publishes with QoS 1. Returns the number that the delegate gets when the broker has it.
  func publish(_ payload: Data, to topic: String, isRetained: Bool) throws(Failure) -> CInt {
    var identifier: CInt = 0
    let result = payload.withUnsafeBytes { bytes in
      mosquitto_publish_v5(
        client, &identifier, topic, CInt(bytes.count), bytes.baseAddress, 1, isRetained, nil)
    }
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw Failure(result, 0, "", settings) }
    return identifier
  }

  /// Sends what waits: acknowledgements, and what was published.
  func flush() {
    guard descriptor >= 0, wantsWriting else { return }
    let result = mosquitto_loop_write(client, 1)
    if result != MOSQ_ERR_SUCCESS.rawValue { didFail(result, errno) }
  }

  private var wantsWriting: Bool { unacknowledged == 0 && mosquitto_want_write(client) }

  /// Ends the connection in an orderly way, so the broker does not publish the will.
  func close() {
    isEnding = true
    mosquitto_disconnect_v5(client, 0, nil)
    flush()
  }

  // MARK: The life of a connection

  private func didOpen(_ outcome: (result: CInt, error: CInt)) {
    let (result, error) = outcome
    guard result == MOSQ_ERR_SUCCESS.rawValue else {
      return retry(Failure(result, error, ConnectionLog.text(UInt(bitPattern: client)), settings))
    }
    descriptor = mosquitto_socket(client)
    loop.add(descriptor, wantsWriting: { [self] in wantsWriting }) {
      [self] in advance()
    }
    keepAlive()
  }

  private func advance() {
    var (result, error): (CInt, CInt)
    // Together they are stored at once.
    var packets = 0
    repeat {
      hasRead = false
      result = mosquitto_loop_read(client, 1)
      error = errno
      packets += 1
      // With TLS, the rest of what was read together cannot be seen from outside.
    } while result == MOSQ_ERR_SUCCESS.rawValue
      && (settings.broker.isSecure && hasRead || packets < 64 && isReadable)
    // A broker that says goodbye leaves no error.
    if result == MOSQ_ERR_SUCCESS.rawValue, mosquitto_socket(client) < 0 {
      (result, error) = (MOSQ_ERR_CONN_LOST.rawValue, 0)
    }
    if result != MOSQ_ERR_SUCCESS.rawValue { didFail(result, error) }
  }

  private var isReadable: Bool {
    var wait = pollfd(fd: mosquitto_socket(client), events: Int16(POLLIN), revents: 0)
    return wait.fd >= 0 && poll(&wait, 1, 0) > 0
  }

  /// Sends a ping when the time has come, and finds out whether the last one was answered.
  private func keepAlive() {
    loop.set(timer, after: .seconds(max(1, settings.keepAlive / 2))) { [self] in
      let result = mosquitto_loop_misc(client)
      if result == MOSQ_ERR_SUCCESS.rawValue { keepAlive() } else { didFail(result, errno) }
    }
  }

  private func didFail(_ result: CInt, _ error: CInt) {
    retry(Failure(result, error, ConnectionLog.text(UInt(bitPattern: client)), settings))
  }

  private func retry(_ failure: Failure) {
    loop.remove(descriptor)
    descriptor = -1
    guard !isEnding else { return }
    delegate?.didLose(refusal ?? failure)
    refusal = nil
    // From a quarter of a second to a minute, so that a fleet does not come back at once.
    let seconds = min(60, 0.25 * pow(2, Double(min(attempts, 10) - 1)))
    loop.set(timer, after: .seconds(seconds * .random(in: 0.5...1))) { [self] in open() }
  }

  // MARK: Set up

  private func renewClient() throws(Mistake) {
    if let client {
      mosquitto_destroy(client)
      ConnectionLog.clear(UInt(bitPattern: client))
      Self.all[client] = nil
    }
    unacknowledged = 0
    client = nil
    client = try makeClient()
  }

  private func makeClient() throws(Mistake) -> OpaquePointer {
    // Two realms may have one broker.
    let identifier = "notifyrelay-\(origin)-\(Escaped.encode(settings.name))"
    guard Self.isReady, let client = mosquitto_new(identifier, false, nil) else {
      throw Mistake("out of memory")
    }
    // Acknowledgements of what was read are sent by flush(), when it is stored.
    mosquitto_threaded_set(client, true)
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
    mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, 1000)
    if let will = delegate?.makeWill() {
      _ = will.payload.withUnsafeBytes { bytes in
        mosquitto_will_set_v5(
          client, will.topic, CInt(bytes.count), bytes.baseAddress, 1, true, nil)
      }
    }
    do { try setSecrets(of: client) } catch {
      mosquitto_destroy(client)
      throw error
    }
    setCallbacks(of: client)
    Self.all[client] = self
    return client
  }

  private func setSecrets(of client: OpaquePointer) throws(Mistake) {
    if let path = settings.credentials {
      let credentials = try Credentials(path)
      mosquitto_username_pw_set(client, credentials.user, credentials.password)
    }
    guard settings.broker.isSecure else { return }
    let result =
      if let authority = settings.authority {
        mosquitto_tls_set(client, authority, nil, settings.certificate, settings.key, nil)
      } else {
        mosquitto_tls_set(
          client, nil, "/etc/ssl/certs", settings.certificate, settings.key, nil)
      }
    guard result == MOSQ_ERR_SUCCESS.rawValue else {
      throw Mistake(
        "the certificates of realm \(settings.name) cannot be used: "
          + String(cString: mosquitto_strerror(result)))
    }
  }

  /// Returns the connection for which libmosquitto calls back, since it has read something.
  private static func called(_ client: OpaquePointer?) -> Connection? {
    let connection = client.flatMap { all[$0] }
    connection?.hasRead = true
    return connection
  }

  private func setCallbacks(of client: OpaquePointer) {
    mosquitto_connect_v5_callback_set(client) { client, _, reason, _, _ in
      Connection.called(client)?.didConnect(reason)
    }
    mosquitto_disconnect_v5_callback_set(client) { client, _, reason, _ in
      guard let client, let connection = Connection.all[client] else { return }
      if let failure = Failure(reason: reason, connection.settings) {
        connection.refusal = failure
      }
    }
    mosquitto_publish_v5_callback_set(client) { client, _, identifier, reason, _ in
      guard let connection = Connection.called(client) else { return }
      connection.delegate?.didPublish(identifier, Failure(reason: reason, connection.settings))
    }
    mosquitto_subscribe_v5_callback_set(client) { client, _, _, count, granted, _ in
      guard let connection = Connection.called(client) else { return }
      let codes = UnsafeBufferPointer(start: granted, count: Int(count))
      let refused = codes.first { $0 >= 0x80 }
      connection.delegate?.didSubscribe(
        refused.flatMap { Failure(reason: $0, connection.settings) })
    }
    mosquitto_message_v5_callback_set(client) { client, _, message, _ in
      guard let message = message?.pointee, let connection = Connection.called(client)
      else { return }
      connection.unacknowledged += 1
      connection.delegate?.didReceive(Message(message))
    }
    mosquitto_log_callback_set(client, ConnectionLog.note)
  }

  private func didConnect(_ reason: CInt) {
    if reason == 0 {
      attempts = 0
      // Otherwise libmosquitto would from now on format a line for each packet.
      mosquitto_log_callback_set(client, nil)
      delegate?.didConnect()
    } else {
      refusal = Failure(reason: reason, settings)
    }
  }
}

extension Message {
  fileprivate init(_ message: mosquitto_message) {
    topic = String(cString: message.topic)
    payload = message.payload.map { Data(bytes: $0, count: Int(message.payloadlen)) } ?? Data()
    isRetained = message.retain
  }
}

/// Connects, with a session that the broker keeps. Returns a result of libmosquitto and `errno`.
private func connect(_ client: OpaquePointer?, _ settings: RealmSettings) -> (
  CInt, CInt
) {
  var properties: OpaquePointer?
  mosquitto_property_add_int32(
    &properties, CInt(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), Connection.sessionSeconds)
  defer { mosquitto_property_free_all(&properties) }
  errno = 0
  let result = mosquitto_connect_bind_v5(
    client, settings.broker.host, settings.broker.port, CInt(settings.keepAlive), nil, properties)
  return (result, errno)
}
