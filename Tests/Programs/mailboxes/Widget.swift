// A widget that passes messages, and one that logs from everywhere in a program.

import MMWormhole
import MailboxKit

private let wormhole = MMWormhole(
  applicationGroupIdentifier: groupIdentifier, optionalDirectory: directoryName)

struct Track: Codable {
  var title: String
  var seconds: Double
}

extension MMWormhole {
  func passMessageObject<T: Encodable>(_ messageObject: T, identifier: String) {
    guard let data = try? JSONEncoder().encode(messageObject) else { return }
    passMessageObject(data as NSCoding, identifier: identifier)
  }

  func message<T: Decodable>(_ type: T.Type, identifier: String) -> T? {
    guard let data = message(withIdentifier: identifier) as? Data else { return nil }
    return try? JSONDecoder().decode(type, from: data)
  }
}

func log(_ text: String) {
  wormhole.passMessageObject(text as NSString, identifier: "log")
}

func passEverything() {
  wormhole.passMessageObject(["buttonNumber": 1] as NSDictionary, identifier: "button")
  wormhole.passMessageObject([2, 3] as NSCoding, identifier: "selection")
  wormhole.passMessageObject(NSNumber(value: true), identifier: "switch")
  let last = Reminder(title: "sleep", count: 0, isDone: false)
  wormhole.passMessageObject(
    Reminder(title: "eat", count: 3, isDone: true, next: last), identifier: "reminder")
  wormhole.passMessageObject(Track(title: "Naima", seconds: 261.5), identifier: "track")
  log("passed")
  wormhole.passMessageObject(nil, identifier: "finished")
}

func printEverything() {
  say(wormhole.message(withIdentifier: "log") as? String ?? "nothing")
  let track = wormhole.message(Track.self, identifier: "track")
  say(track.map { "\($0.title) \($0.seconds)" } ?? "no track")
  wormhole.clearMessageContents(forIdentifier: "log")
  say(wormhole.message(withIdentifier: "log") as? String ?? "nothing")
  wormhole.clearAllMessageContents()
  say(wormhole.message(withIdentifier: "track") == nil ? "no track" : "a track")
  let manager = FileManager.default
  let folder = manager.containerURL(forSecurityApplicationGroupIdentifier: groupIdentifier)
  say(folder?.lastPathComponent ?? "no folder")
}
