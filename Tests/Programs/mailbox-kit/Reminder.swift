// The module that the programs with mailboxes share: nothing in it is meant for Linux.
// It is source as people write it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

public let groupIdentifier = "group.org.example.mailboxes"
public let directoryName = "wormhole"

public final class Reminder: NSObject, NSCoding {
  public let title: String
  public let count: Int
  public let isDone: Bool
  public let due: Date
  public let tags: [String]
  public let weight: Double
  public let picture: Data
  public let details: [String: Any]
  public let next: Reminder?

  public init(title: String, count: Int, isDone: Bool, next: Reminder? = nil) {
    (self.title, self.count, self.isDone, self.next) = (title, count, isDone, next)
    due = Date(timeIntervalSinceReferenceDate: 1000.25)
    (tags, weight, picture) = (["blue", "red"], 2.5, Data([0, 255]))
    details = ["one": 1, "yes": true, "none": NSNull()]
  }

  public func encode(with coder: NSCoder) {
    coder.encode(title, forKey: "title")
    coder.encode(count, forKey: "count")
    coder.encode(isDone, forKey: "isDone")
    coder.encode(due, forKey: "due")
    coder.encode(tags, forKey: "tags")
    coder.encode(weight, forKey: "weight")
    coder.encode(picture, forKey: "picture")
    coder.encode(details, forKey: "details")
    coder.encode(next, forKey: "next")
  }

  public init?(coder: NSCoder) {
    guard let title = coder.decodeObject(forKey: "title") as? String,
      let due = coder.decodeObject(forKey: "due") as? Date,
      let picture = coder.decodeObject(forKey: "picture") as? Data
    else { return nil }
    (self.title, self.due, self.picture) = (title, due, picture)
    count = coder.decodeInteger(forKey: "count")
    isDone = coder.decodeBool(forKey: "isDone")
    weight = coder.decodeDouble(forKey: "weight")
    tags = coder.decodeObject(forKey: "tags") as? [String] ?? []
    details = coder.decodeObject(forKey: "details") as? [String: Any] ?? [:]
    next = coder.decodeObject(forKey: "next") as? Reminder
  }

  public override var description: String {
    let one = details["one"] as? Int ?? 0
    let yes = details["yes"] as? Bool ?? false
    let parts = [
      "\(title) \(count) \(isDone) \(due.timeIntervalSinceReferenceDate) \(tags) \(weight)",
      "\(Array(picture)) \(one) \(yes) \(details["none"] is NSNull)",
    ]
    return parts.joined(separator: " ") + (next.map { ", then \($0)" } ?? "")
  }
}
