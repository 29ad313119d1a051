// Parses the command line.

import DarwinNotify
import Glibc

/// The action that the user has chosen.
enum Action: Equatable {
  case run
  case check
  case status(Status.Format)
  case origin
  case version
  case help
}

/// The parsed command line.
struct Arguments {
  var action = Action.run
  /// The file of settings; `nil` if the settings are on the command line.
  private var path: String?
  private var reader = SettingsReader()
  private var hasSettings = false

  init(_ words: [String]) throws(Mistake) {
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let attached = parts.count > 1 ? String(parts[1]) : nil
      guard word.hasPrefix("--") || word == "-h" else {
        throw Mistake("not an option: \(withoutPassword(word))")
      }
      let key = String(parts[0].drop { $0 == "-" })
      if attached == nil, takeAction(key) { continue }
      let needsValue = key == "config" || SettingsReader.keys.contains(key)
      guard let value = attached ?? (needsValue ? rest.popFirst() : "") else {
        throw Mistake("--\(key) needs a value")
      }
      if key == "config" {
        path = value
      } else {
        try reader.take(key, value)
        hasSettings = true
      }
    }
    guard path == nil || !hasSettings else {
      throw Mistake("--config cannot be combined with the settings of a realm")
    }
  }

  private mutating func takeAction(_ key: String) -> Bool {
    switch (key, action) {
    case ("check", _): action = .check
    case ("status", _): action = .status(.text)
    case ("json", .status): action = .status(.json)
    case ("metrics", _): action = .status(.metrics)
    case ("origin", _): action = .origin
    case ("version", _): action = .version
    case ("help", _), ("h", _): action = .help
    default: return false
    }
    return true
  }

  /// The realms of the command line, or of the file.
  func realms() throws(Mistake) -> [RealmSettings] {
    if hasSettings { return try reader.finish() }
    return try SettingsFile.read(path ?? Self.defaultPath).finish()
  }

  private static var defaultPath: String {
    let home = File.variable("HOME") ?? ""
    return "\(File.variable("XDG_CONFIG_HOME") ?? "\(home)/.config")/notifyrelay.conf"
  }

  static let usage = """
    usage: notifyrelay [--config FILE | --realm NAME --broker URL [setting ...] ...]
    Passes notifications and messages between the machines of a user, through an MQTT 5 broker.
    The settings come from the command line or a file, by default ~/.config/notifyrelay.conf:
        --realm NAME         begin the description of a realm
        --broker URL         mqtts://HOST[:PORT], or mqtt://HOST[:PORT] without encryption
        --share PREFIX       share the names that begin with this text
        --share-group GROUP  share the messages of this group
        --receive-only       send nothing
        --send-only          receive nothing
        --credentials FILE   a file with the lines user = NAME and password = TEXT
        --ca FILE            trust these authorities instead of the system's
        --certificate FILE   the certificate of this client
        --key FILE           its key
        --keep-alive SECONDS 5 to 3600, by default 60
        --max-payload BYTES  the largest message to send or receive, by default 1048576
    instead of running:
        --check              check the settings
        --status [--json]    print the status of the running relay
        --metrics            print it in the OpenMetrics text format
        --origin             print the number of this user on this machine
        --version            print the version
        -h, --help           print this text
    exit status: 0 done, 1 wrong settings or files, 2 failed, 3 another relay has this origin
    """
}
