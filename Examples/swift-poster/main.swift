// Posts the names in its arguments.
//
//     swift run swift-poster com.example.changed
import DarwinNotify
import Glibc

var status: Int32 = 0
for name in CommandLine.arguments.dropFirst() {
  do {
    try DarwinNotificationCenter.shared.post(NotificationName(name))
    print("posted \(name)")
  } catch {
    print("\(name): \(error)")
    status = 1
  }
}
exit(status)
