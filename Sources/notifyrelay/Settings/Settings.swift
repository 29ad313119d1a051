// The settings of the user.

/// A broker.
struct BrokerAddress: Equatable, Sendable, CustomStringConvertible {
  let host: String
  let port: CInt
  let isSecure: Bool

  /// Parses `mqtt://host[:port]` or `mqtts://host[:port]`.
  init(_ text: String) throws(Mistake) {
    let parts = text.split(separator: "://", maxSplits: 1).map(String.init)
    let text = withoutPassword(text)
    guard parts.count == 2, ["mqtt", "mqtts"].contains(parts[0]) else {
      throw Mistake("\(text) is not a broker: write mqtts://HOST[:PORT] or mqtt://HOST[:PORT]")
    }
    guard !parts[1].contains("@") else {
      throw Mistake(
        "\(text) must not contain a user name: put it into the credentials file")
    }
    isSecure = parts[0] == "mqtts"
    let (host, port) = Self.split(parts[1])
    guard !host.isEmpty, !host.contains("/"),
      let port = port.map({ CInt($0) }) ?? (isSecure ? 8883 : 1883),
      (1...65535).contains(port)
    else { throw Mistake("\(text) is not a broker: its host or port is invalid") }
    (self.host, self.port) = (host, port)
  }

  var description: String { "\(host):\(port)" }

  /// Whether nobody else can read along.
  var isLocal: Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }

  /// An IPv6 address stands in brackets.
  private static func split(_ text: String) -> (host: String, port: Substring?) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let rest = text[text.index(after: end)...]
      return (String(text.dropFirst()[..<end]), rest.hasPrefix(":") ? rest.dropFirst() : nil)
    }
    guard let colon = text.lastIndex(of: ":") else { return (text, nil) }
    return (String(text[..<colon]), text[text.index(after: colon)...])
  }
}

/// A text for a message, without anything before the host in a URL.
func withoutPassword(_ text: String) -> String {
  text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
}

/// The settings of a realm: the names and groups that it shares, and how.
struct RealmSettings: Sendable {
  let name: String
  var broker: BrokerAddress
  var prefixes: [String] = []
  var groups: [String] = []
  var sends = true
  var receives = true
  /// The paths of files.
  var credentials: String?
  var authority: String?
  var certificate: String?
  var key: String?
  /// In seconds.
  var keepAlive = 60
  /// The largest payload to send or receive.
  var maxBytes = 1 << 20

  func shares(_ name: String) -> Bool {
    !isReserved(name) && prefixes.contains { name.utf8.starts(with: $0.utf8) }
  }
}
