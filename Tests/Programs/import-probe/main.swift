// Uses every public name together with Foundation: it compiles only if none is ambiguous.
import CoreFoundation
import DarwinNotify
import Dispatch
import Foundation

let center = DarwinNotificationCenter.shared
let bus = DarwinNotificationCenter.Bus.noBus
let name: NotificationName = "com.example.probe"
let deliveries: [Delivery] = [
  .main, .queue(DispatchQueue.global()), .thread, .direct, .loop { work in work() },
]
let listener = Listener<NotificationEvent>("probe", on: deliveries[0]) { event in
  print(event.name, event.coalesced)
}

do {
  try center.bind(listener, to: name)
  let observation: NotificationObservation = try center.observe(name) { _ in }
  let notifications: Notifications = try center.notifications(named: name)
  try center.post(name)
  withExtendedLifetime((observation, notifications)) {}
} catch DarwinNotifyError.notConnected {
  print("no bus")
}
let foundationName = Notification.Name(name.rawValue)
print(foundationName.rawValue, CFAbsoluteTimeGetCurrent() > 0)
