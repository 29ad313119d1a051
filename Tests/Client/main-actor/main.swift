// Uses the handlers of both modules, importing nothing else, where the main actor is the default.
import Wormhole

final class Label {
  var text = ""
}

actor Counter {
  var count = 0
  func increase() { count += 1 }
}

let isOn = MessageName<Bool>("light")
let changed: NotificationName = "com.example.changed"

func register(_ label: Label, _ counter: Counter, in hole: Wormhole) throws -> [Any] {
  let center = hole.group.center
  try hole.bind(Listener("label") { label.text = "\($0.content)" }, to: isOn)
  try hole.bind(Listener("count", on: counter) { counter, _ in counter.increase() }, to: isOn)
  try center.bind(Listener("label") { label.text = "\($0.name)" }, to: changed)
  return [
    try hole.listen(isOn) { label.text = "\($0.content)" },
    try hole.listen(isOn, on: counter) { counter, _ in counter.increase() },
    try hole.listen(isOn, on: .thread) { message in _ = message.name },
    try center.observe(changed) { label.text = "\($0.name)" },
    try center.observe(changed, on: counter) { counter, _ in counter.increase() },
  ]
}

func follow(_ label: Label, on center: DarwinNotificationCenter) async throws {
  let changes = try center.notifications(named: "com.example.changed")
  let moves = try center.notifications(named: "com.example.moved")
  @MainActor func show(_ events: Notifications) async {
    for await event in events { label.text = "\(event.name)" }
  }
  await withTaskGroup(of: Void.self) { group in
    group.addTask { await show(changes) }
    group.addTask { await show(moves) }
  }
}

let group = try AppGroup("com.example.lights")
let hole = try Wormhole(group: group)
let registrations = try register(Label(), Counter(), in: hole)
print("received \(registrations.count) registrations")
