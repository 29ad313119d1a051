// Collects the settings of realms, from the command line or a file with the same keys.

import Glibc

/// The keys of a realm, in the order in which they are given.
struct SettingsReader {
  private var realms: [Unfinished] = []

  /// A realm that may lack a broker.
  private struct Unfinished {
    let name: String
    var broker: BrokerAddress?
    var settings: [(key: String, value: String)] = []
  }

  /// Keys that stand alone.
  static let flags: Set = ["receive-only", "send-only"]

  /// Keys with a value.
  static let keys: Set = [
    "realm", "broker", "share", "share-group", "credentials", "ca", "certificate", "key",
    "keep-alive", "max-payload",
  ]

  /// Takes a key and its value. `realm` begins another realm.
  mutating func take(_ key: String, _ value: String) throws(Mistake) {
    guard Self.keys.contains(key) || Self.flags.contains(key) else {
      throw Mistake("\(withoutPassword(key)) is not a setting")
    }
    if key == "realm" {
      guard !value.isEmpty, value.utf8.count <= 100 else { throw Mistake("a realm needs a name") }
      guard !realms.contains(where: { $0.name == value }) else {
        throw Mistake("realm \(value) is described twice")
      }
      return realms.append(Unfinished(name: value))
    }
    guard let last = realms.indices.last else { throw Mistake("\(key) must follow realm") }
    guard Self.flags.contains(key) == value.isEmpty else {
      throw Mistake(value.isEmpty ? "\(key) needs a value" : "\(key) takes no value")
    }
    if key == "broker" {
      realms[last].broker = try BrokerAddress(value)
    } else {
      realms[last].settings.append((key, value))
    }
  }

  /// The realms, each complete and without contradictions.
  func finish() throws(Mistake) -> [RealmSettings] {
    guard !realms.isEmpty else { throw Mistake("no realm given") }
    var finished: [RealmSettings] = []
    for realm in realms {
      guard let broker = realm.broker else { throw Mistake("realm \(realm.name) has no broker") }
      var settings = RealmSettings(name: realm.name, broker: broker)
      for (key, value) in realm.settings { try settings.set(key, value) }
      try settings.check()
      // Another machine in both realms would store each record of a log twice.
      for other in finished {
        if let group = settings.groups.first(where: other.groups.contains) {
          throw Mistake("realms \(other.name) and \(realm.name) both share the group \(group)")
        }
      }
      finished.append(settings)
    }
    return finished
  }
}

extension RealmSettings {
  fileprivate mutating func set(_ key: String, _ value: String) throws(Mistake) {
    switch key {
    case "share": prefixes.append(value)
    case "share-group": groups.append(value)
    case "receive-only": sends = false
    case "send-only": receives = false
    case "credentials": credentials = value
    case "ca": authority = value
    case "certificate": certificate = value
    case "key": self.key = value
    case "keep-alive": keepAlive = try Self.number(key, value, in: 5...3600)
    default: maxBytes = try Self.number(key, value, in: 1024...(256 << 20))
    }
  }

  private static func number(
    _ key: String, _ value: String, in range: ClosedRange<Int>
  ) throws(Mistake) -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw Mistake("\(key) must be \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return number
  }

  fileprivate func check() throws(Mistake) {
    guard !prefixes.isEmpty || !groups.isEmpty else {
      throw Mistake("realm \(name) shares nothing: add share or share-group")
    }
    for prefix in prefixes where isReserved(prefix) || prefix.utf8.count > 511 {
      throw Mistake("names that begin with \(prefix) never leave a machine")
    }
    guard sends || receives else {
      throw Mistake("realm \(name) is both receive-only and send-only")
    }
    guard (certificate == nil) == (key == nil) else {
      throw Mistake("realm \(name) needs both certificate and key, or neither")
    }
    let hasFiles = authority != nil || certificate != nil
    guard broker.isSecure || !hasFiles else {
      throw Mistake("realm \(name) has certificates, but its broker is not mqtts://")
    }
    guard broker.isSecure || broker.isLocal || credentials == nil else {
      throw Mistake("the password of realm \(name) would not be encrypted: use mqtts://")
    }
    try checkFiles()
  }

  private func checkFiles() throws(Mistake) {
    if let credentials { _ = try Credentials(credentials) }
    if let key, let fault = File.fault(ofSecret: key) { throw fault }
    for path in [authority, certificate].compactMap(\.self) where access(path, R_OK) != 0 {
      throw Mistake("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
  }
}

/// A file with a key and, mostly, a value on each line.
enum SettingsFile {
  static func lines(of text: String) -> [(number: Int, key: String, value: String)] {
    var lines: [(Int, String, String)] = []
    // A line may end with CR and LF, which are one character.
    let all = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in all.enumerated() {
      let line = trimmed(line)
      if line.isEmpty || line.hasPrefix("#") { continue }
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      lines.append((index + 1, trimmed(parts[0]), parts.count > 1 ? trimmed(parts[1]) : ""))
    }
    return lines
  }

  /// Reads a file of settings.
  static func read(_ path: String) throws(Mistake) -> SettingsReader {
    var reader = SettingsReader()
    for line in lines(of: try File.readText(path)) {
      do throws(Mistake) {
        try reader.take(line.key, line.value)
      } catch {
        throw Mistake("line \(line.number) of \(path): \(error)")
      }
    }
    return reader
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { String(start[...$0]) } ?? ""
  }
}
