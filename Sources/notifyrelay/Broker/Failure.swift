// Describes in words what is wrong with a connection.

import CMosquitto
import DarwinNotifySupport
import Glibc

/// Why the broker cannot be used, or has refused something.
struct Failure: Error, Equatable {
  let text: String

  /// Whether trying again would only take the session from another relay, which takes it back.
  var isFinal = false

  /// Whether the broker never takes this message.
  var isTooLarge = false

  /// Not all brokers tell.
  static let takenOver = Self(
    text: "another relay has taken over the session: it has the same origin", isFinal: true)

  private init(text: String, isFinal: Bool) {
    (self.text, self.isFinal) = (text, isFinal)
  }

  /// Nothing can be sent to the broker: a file is missing, or must not be used.
  init(_ mistake: Mistake) {
    text = mistake.description
  }

  /// A failure to connect, to stay connected or to publish: what libmosquitto returned, `errno`,
  /// and what libmosquitto has written.
  init(_ result: CInt, _ error: CInt, _ log: String, _ settings: RealmSettings) {
    let (host, port) = (settings.broker.host, settings.broker.port)
    text =
      switch mosq_err_t(result) {
      case MOSQ_ERR_EAI: "the name \(host) cannot be resolved"
      case _ where log.contains("host name verification"):
        "the certificate of the broker is not for \(host)"
      case _ where log.contains("certificate verify failed"):
        "the certificate of \(host) is not trusted: name its authority with --ca"
      case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE:
        "TLS with \(host):\(port) failed: \(log.isEmpty ? "no reason given" : log)"
      case MOSQ_ERR_ERRNO where error == ECONNREFUSED:
        "\(host):\(port) refuses connections: no broker listens there"
      case MOSQ_ERR_ERRNO where error != 0:
        "\(host):\(port) cannot be reached: \(String(cString: strerror(error)))"
      case MOSQ_ERR_OVERSIZE_PACKET: "a message is too large for the broker"
      case MOSQ_ERR_RETAIN_NOT_SUPPORTED: "the broker does not retain messages"
      case MOSQ_ERR_KEEPALIVE: "\(host):\(port) no longer answers"
      case MOSQ_ERR_CONN_LOST, MOSQ_ERR_NO_CONN:
        log.isEmpty
          ? "\(host):\(port) has closed the connection" : "TLS with \(host) failed: \(log)"
      default: "\(host):\(port): \(String(cString: mosquitto_strerror(result)))"
      }
  }

  /// The meaning of a reason code of the broker; `nil` for success.
  init?(reason: CInt, _ settings: RealmSettings) {
    guard reason >= 0x80 else { return nil }
    switch reason {
    case CInt(MQTT_RC_NOT_AUTHORIZED.rawValue):
      text = "the broker does not permit this: check its ACL and the credentials"
    case CInt(MQTT_RC_BAD_USERNAME_OR_PASSWORD.rawValue):
      text = "the broker does not accept the credentials"
    case CInt(MQTT_RC_SESSION_TAKEN_OVER.rawValue):
      self = .takenOver
    case CInt(MQTT_RC_SERVER_SHUTTING_DOWN.rawValue): text = "the broker is shutting down"
    case CInt(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue):
      text = "the broker does not speak MQTT 5"
    case CInt(MQTT_RC_PACKET_TOO_LARGE.rawValue):
      (text, isTooLarge) = ("a message is too large for the broker", true)
    case CInt(MQTT_RC_QUOTA_EXCEEDED.rawValue): text = "a quota of the broker is exceeded"
    default: text = "the broker reports: \(String(cString: mosquitto_reason_string(reason)))"
    }
  }
}

/// The last error that libmosquitto has written for each client: it says no more than "TLS" itself.
enum ConnectionLog {
  private static let texts = Locked<[UInt: String]>([:])

  /// The callback of libmosquitto, also on the thread that connects.
  static let note:
    @Sendable @convention(c) (
      OpaquePointer?, UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?
    ) -> Void = { client, _, level, text in
      guard level == MOSQ_LOG_ERR, let text else { return }
      note(UInt(bitPattern: client), String(cString: text))
    }

  private static func note(_ client: UInt, _ line: String) {
    texts.withLock { texts in
      // The first one is the cause.
      if texts[client] == nil { texts[client] = line }
    }
  }

  static func text(_ client: UInt) -> String {
    texts.withLock { $0[client] ?? "" }
  }

  static func clear(_ client: UInt) {
    texts.withLock { $0[client] = nil }
  }
}
