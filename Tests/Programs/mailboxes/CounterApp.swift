// An app that shows what its widget passes.

import Foundation
import MMWormhole
import MailboxKit

@MainActor
final class CounterController {
  let wormhole = MMWormhole(
    applicationGroupIdentifier: groupIdentifier, optionalDirectory: directoryName)
  private(set) var numberText = "" {
    didSet { say("number \(numberText)") }
  }

  func viewDidLoad() {
    if let message = wormhole.message(withIdentifier: "button") as? [String: Any],
      let number = message["buttonNumber"] as? NSNumber
    {
      numberText = "\(number.stringValue), stored"
    }
    wormhole.listenForMessage(withIdentifier: "button") { [weak self] (messageObject) -> Void in
      if let message = messageObject as? [String: AnyObject],
        let number = message["buttonNumber"] as? NSNumber
      {
        self?.numberText = number.stringValue
      }
    }
    wormhole.listenForMessage(withIdentifier: "selection", listener: select)
    wormhole.listenForMessage(withIdentifier: "switch") { messageObject in
      say("switch \(messageObject as? Bool ?? false)")
    }
    wormhole.listenForMessage(withIdentifier: "reminder") { messageObject in
      guard let reminder = messageObject as? Reminder else { return say("no reminder") }
      say("\(reminder)")
    }
    wormhole.listenForMessage(withIdentifier: "finished") { _ in say("finished") }
    say("ready")
  }

  private func select(_ messageObject: Any?) {
    say("selection \((messageObject as? [Int]).map { "\($0)" } ?? "none")")
  }
}
