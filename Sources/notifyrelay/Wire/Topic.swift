// Names the topics of a realm.

import DarwinNotifySupport

/// The subjects of topics, below `darwinnotify/1/<realm>/`.
enum Subject: Hashable {
  /// How often an origin has posted a name.
  case name(String)
  /// The records of a message name.
  case record(MessageAddress)
  /// Which records of another origin are missing.
  case ask(MessageAddress)
  /// Whether an origin is there.
  case presence
}

/// A message name of a group.
struct MessageAddress: Hashable {
  let group: String
  let name: String
}

/// The topics of a realm.
struct Topics {
  /// With a slash at its end.
  let base: String

  /// The text of this origin, the last level of the topics that it writes.
  private let own: String

  init(realm: String, by origin: Origin) {
    base = "darwinnotify/1/\(Escaped.encode(realm))/"
    own = "\(origin)"
  }

  /// The topic in which this origin publishes a subject.
  func topic(of subject: Subject) -> String {
    switch subject {
    case .name(let name): "\(base)n/\(Escaped.encode(name))/\(own)"
    case .record(let address): "\(base)r/\(address.levels)/\(own)"
    case .ask(let address): "\(base)a/\(address.levels)/\(own)"
    case .presence: "\(base)p/\(own)"
    }
  }

  /// Parses the topic of a message. Returns `nil` for one that no relay uses.
  func parse(_ topic: String) -> (subject: Subject, origin: Origin)? {
    guard topic.utf8.starts(with: base.utf8) else { return nil }
    let levels = topic.utf8.dropFirst(base.utf8.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { Substring($0) }
    guard let origin = levels.last.flatMap({ Origin($0) }) else { return nil }
    let names = levels.dropFirst().dropLast().compactMap { Escaped.decode($0) }
    switch (levels[0], levels.count, names.count) {
    case ("n", 3, 1): return (.name(names[0]), origin)
    case ("r", 4, 2): return (.record(MessageAddress(group: names[0], name: names[1])), origin)
    case ("a", 4, 2): return (.ask(MessageAddress(group: names[0], name: names[1])), origin)
    case ("p", 2, 0): return (.presence, origin)
    default: return nil
    }
  }
}

extension MessageAddress {
  fileprivate var levels: String { "\(Escaped.encode(group))/\(Escaped.encode(name))" }
}

/// Text in which every byte but letters, digits and `-._~` is `%` with two hexadecimal digits.
enum Escaped {
  private static let digits = Array("0123456789ABCDEF".utf8)

  static func encode(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text as a field of a payload.
  static func field(_ text: String?) -> String { text.map { ":\(encode($0))" } ?? "-" }

  /// Returns `nil` for an empty text, or one that `encode` never returns: a name has one topic.
  static func decode(_ text: some StringProtocol) -> String? {
    if text.utf8.allSatisfy(isPlain) { return text.isEmpty ? nil : String(text) }
    guard let bytes = text.percentDecoded, let decoded = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return encode(decoded).utf8.elementsEqual(text.utf8) ? decoded : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
