// Reads mailboxes that anybody may have filled, and fills some with what does not fit.

import Foundation
import MMWormhole
import MailboxKit

/// Prints what each identifier holds, or that it holds nothing.
func printMessages(_ identifiers: [String]) {
  let wormhole = MMWormhole(
    applicationGroupIdentifier: groupIdentifier, optionalDirectory: directoryName)
  for identifier in identifiers {
    let message = wormhole.message(withIdentifier: identifier)
    say("\(identifier): \(message.map { "\(type(of: $0)) \($0)" } ?? "nil")")
  }
}

/// Passes objects that cannot be passed, and uses what cannot be used.
func misuse() {
  let wormhole = MMWormhole(
    applicationGroupIdentifier: groupIdentifier, optionalDirectory: directoryName)
  let stranger = NSError(domain: "org.example", code: 1)
  let objects: [(String, any NSCoding)] = [
    ("endless", Endless()), ("stranger", stranger),
    ("stranger inside", [stranger] as NSArray), ("structure", [Track.self] as NSArray),
    ("unkeyed", Unkeyed()), ("nested", Outer.Inner()), ("large", Data(count: 1 << 21) as NSData),
    ("", "no name" as NSString), (String(repeating: "n", count: 256), "long name" as NSString),
  ]
  for (identifier, object) in objects {
    wormhole.passMessageObject(object, identifier: identifier)
    if wormhole.message(withIdentifier: identifier) != nil { say("\(identifier) was passed") }
  }
  wormhole.listenForMessage(withIdentifier: "") { _ in }
  _ = MMWormhole(applicationGroupIdentifier: nil, optionalDirectory: nil)
  let reserved = MMWormhole(
    applicationGroupIdentifier: groupIdentifier, optionalDirectory: "defaults")
  reserved.passMessageObject(nil, identifier: "x")
  if FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "") != nil {
    say("a folder")
  }
  wormhole.passMessageObject("ignored" as NSString, identifier: nil)
  wormhole.listenForMessage(withIdentifier: nil) { _ in }
  wormhole.stopListeningForMessage(withIdentifier: nil)
  wormhole.clearMessageContents(forIdentifier: nil)
  say("alive")
}

/// Contains another one, and so on.
private final class Endless: NSObject, NSCoding {
  override init() {}
  func encode(with coder: NSCoder) {
    for key in "abc" { coder.encode(Endless(), forKey: "\(key)") }
  }
  init?(coder: NSCoder) {}
}

final class Unkeyed: NSObject, NSCoding {
  override init() {}
  func encode(with coder: NSCoder) { coder.encode("text") }
  init?(coder: NSCoder) {}
}

enum Outer {
  final class Inner: NSObject, NSCoding {
    override init() {}
    func encode(with coder: NSCoder) {}
    init?(coder: NSCoder) {}
  }
}
