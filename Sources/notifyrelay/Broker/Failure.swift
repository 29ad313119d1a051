// Describes in words what is wrong with a connection.

import Glibc

/// Why the broker cannot be used, or has refused something.
struct Failure: Error, Equatable {
  let text: String

  /// Whether trying again would only take the session from another relay, which takes it back.
  var isFinal = false

  /// Whether the broker never takes this message.
  var isTooLarge = false

  private init(_ text: String, isFinal: Bool = false, isTooLarge: Bool = false) {
    (self.text, self.isFinal, self.isTooLarge) = (text, isFinal, isTooLarge)
  }

  /// Nothing can be sent to the broker: a file is missing, or must not be used.
  init(_ mistake: Mistake) {
    text = mistake.description
  }

  /// Not all brokers say so.
  static let takenOver = Self(
    "another relay has taken over the session: it has the same origin", isFinal: true)

  static let noThread = Self("there are too many threads or descriptors to connect")
  static let tooLarge = Self("a message is too large for the broker", isTooLarge: true)
  static let noQoS1 = Self("the broker does not support QoS 1")
  static let notRetained = Self("the broker does not retain messages")

  static func unresolved(_ broker: BrokerAddress) -> Self {
    Self("the name \(broker.host) cannot be resolved")
  }

  /// A system call failed.
  static func unreachable(_ broker: BrokerAddress, _ error: CInt) -> Self {
    if error == ECONNREFUSED {
      return Self("\(broker) refuses connections: no broker listens there")
    }
    return Self("\(broker) cannot be reached: \(String(cString: strerror(error)))")
  }

  static func closed(_ broker: BrokerAddress) -> Self {
    Self("\(broker) has closed the connection")
  }

  static func silent(_ broker: BrokerAddress) -> Self { Self("\(broker) no longer answers") }

  static func malformed(_ broker: BrokerAddress) -> Self {
    Self("\(broker) sends what is not MQTT 5")
  }

  static func notTrusted(_ broker: BrokerAddress, _ reason: String) -> Self {
    Self(
      "the certificate of \(broker.host) is not trusted (\(reason)): name its authority with --ca")
  }

  static func wrongHost(_ broker: BrokerAddress) -> Self {
    Self("the certificate of the broker is not for \(broker.host)")
  }

  static func tls(_ broker: BrokerAddress, _ reason: String) -> Self {
    Self("TLS with \(broker) failed: \(reason)")
  }

  /// The meaning of a reason code of the broker; `nil` for success.
  init?(reason: UInt8) {
    switch reason {
    case 0..<0x80: return nil
    case 0x84: self.init("the broker does not speak MQTT 5")
    case 0x86: self.init("the broker does not accept the credentials")
    case 0x87: self.init("the broker does not permit this: check its ACL and the credentials")
    case 0x88, 0x89: self.init("the broker is too busy")
    case 0x8B: self.init("the broker is shutting down")
    case 0x8D: self.init("the broker has not heard from us in time")
    case 0x8E: self = .takenOver
    case 0x95: self = .tooLarge
    case 0x96, 0x97, 0x9F: self.init("a quota of the broker is exceeded")
    case 0x98: self.init("an administrator of the broker has ended the connection")
    default:
      self.init("the broker reports the reason 0x\(String(reason, radix: 16, uppercase: true))")
    }
  }
}
