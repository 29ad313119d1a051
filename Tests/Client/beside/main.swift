// Imports all modules together with those of the toolchain that have types of the same names.
import CDarwinNotify
import CFNotificationCenter
import DarwinNotify
import Dispatch
import Distributed
import DistributedNotifications
import Foundation
import Observation
import Synchronization
import Wormhole

struct Message: Codable, Sendable { var text = "" }
struct Sender: Hashable { var name = "" }
struct Event {}
struct State: Codable, Sendable { var isOn = false }
enum Content { case nothing }

@Observable
final class Model {
  var message = Message()
  var sender: Sender?
}

extension MessageName where Value == State {
  static var state: Self { MessageName("state", type: "State") }
}

/// Uses each of the library's types that has a namesake.
func describe(_ message: Wormhole.Message<State>, by sender: DarwinNotify.Sender) -> String {
  let content: Wormhole.Content<State> = message.content
  return "\(content) by \(sender.process ?? 0)"
}

let model = Model()
let isChanged = Mutex(false)
withObservationTracking {
  _ = model.message
} onChange: {
  isChanged.withLock { $0 = true }
}
model.message = Message(text: "changed")

let name: NotificationName = "com.example.beside"
let delivery: Delivery = .thread
let observation: NotificationObservation? = try? DarwinNotificationCenter.shared.observe(
  name, on: delivery
) { _ in }
let listener = Listener<NotificationEvent>("beside", on: delivery) { _ = $0.coalesced }
try? DarwinNotificationCenter.shared.bind(listener, to: name)
let notifications: Notifications? = try? DarwinNotificationCenter.shared.notifications(named: name)
CFNotificationCenterAddObserver(
  CFNotificationCenterGetDarwinNotifyCenter(), nil, { _, _, _, _, _ in },
  "com.example.beside" as CFString, nil, .deliverImmediately)
let center: DistributedNotificationCenter = .default()
center.post(name: Notification.Name("com.example.beside"), object: nil)
let message = Wormhole.Message<State>(.value(State(isOn: true)), name: "state")
print("received \(describe(message, by: .current)), \(isChanged.withLock { $0 })")
withExtendedLifetime((observation, notifications, Event(), Content.nothing)) {}
