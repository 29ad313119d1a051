// Posts and observes like a program for macOS; without the second import it is one.
//
//     macos-source observe NAME [OBJECT]      prints what arrives, until the object "end" is posted
//     macos-source post NAME OBJECT COUNT     posts numbers
import Foundation

#if canImport(DistributedNotifications)
  import DistributedNotifications
#endif

extension Notification.Name {
  static let given = Notification.Name(CommandLine.arguments[2])
}

func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Keeps the tokens of its observers, like a controller.
final class Listener {
  private let center = DistributedNotificationCenter.default()
  private var observers: [NSObjectProtocol] = []

  func listen(to object: String?) {
    observers.append(
      center.addObserver(forName: .given, object: object, queue: .main) { notification in
        let title = notification.userInfo?["title"] as? String ?? "none"
        let number = notification.userInfo?["number"] as? Int ?? -1
        let object = notification.object as? String ?? "-"
        say("\(notification.name.rawValue) \(object) \(title) \(number)")
        if object == "end" { exit(0) }
      })
    // The block may be a function, and the queue `nil`.
    observers.append(
      center.addObserver(forName: nil, object: "everywhere", queue: nil, using: Self.notice))
    center.suspended = false
  }

  private static func notice(_ notification: Notification) {
    say("noticed \(notification.name.rawValue)")
  }

  deinit {
    observers.forEach { center.removeObserver($0) }
  }
}

func post(object: String?, count: Int) {
  let center = DistributedNotificationCenter.default()
  for number in 0..<count {
    let userInfo: [AnyHashable: Any] = ["title": "number", "number": number]
    switch number % 3 {
    case 0: center.post(name: .given, object: object, userInfo: userInfo)
    case 1:
      center.postNotificationName(
        .given, object: object, userInfo: userInfo, deliverImmediately: true)
    default:
      center.postNotificationName(
        .given, object: object, userInfo: userInfo, options: [.deliverImmediately])
    }
  }
  DistributedNotificationCenter.default().post(name: .given, object: "end")
}

let arguments = CommandLine.arguments
let listener = Listener()
switch arguments[1] {
case "observe":
  listener.listen(to: arguments.count > 3 ? arguments[3] : nil)
  say("ready")
  RunLoop.main.run()
default:
  post(object: arguments[3] == "-" ? nil : arguments[3], count: Int(arguments[4]) ?? 0)
}
