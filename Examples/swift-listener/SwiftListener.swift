// Prints the notifications of a name.
//
//     swift run swift-listener com.example.changed [number of posts to wait for]
import DarwinNotify
import Glibc

@main
struct SwiftListener {
  static func main() async throws {
    guard CommandLine.arguments.count > 1 else { return say("usage: swift-listener name [posts]") }
    let name = NotificationName(CommandLine.arguments[1])
    let limit = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) : nil
    let center = DarwinNotificationCenter.shared

    // Named listeners: rebinding a name replaces its listener.
    try center.bind(Listener("greeter") { _ in say("never seen") }, to: name)
    try center.bind(Listener("greeter") { say("heard \($0.name)") }, to: name)

    // A sequence: registered before it is returned.
    let notifications = try center.notifications(named: name)
    say("ready")
    var seen = 0
    for await event in notifications {
      say("received \(event.name) (\(event.coalesced) post\(event.coalesced == 1 ? "" : "s"))")
      seen += event.coalesced
      if let limit, seen >= limit { break }
    }
    center.unbind("greeter", from: name)
  }
}

/// Prints a line at once, even into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}
