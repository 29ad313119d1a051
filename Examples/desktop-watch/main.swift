// Prints what happens to the desktop, with the names and the functions of macOS.
//
//     swift run desktop-watch
#if canImport(DistributedNotifications)
  import DistributedNotifications
#endif
import Foundation
import notify

func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// Prints a line for each notification of the distributed center.
func watchDistributed(_ name: String, as line: String) {
  _ = DistributedNotificationCenter.default().addObserver(
    forName: Notification.Name(name), object: nil, queue: .main
  ) { _ in say(line) }
}

/// Prints a line, with the state of the name, for each notification of notify(3).
func watch(_ name: String, as line: String) {
  var token: Int32 = 0
  notify_register_dispatch(name, &token, .main) { token in
    var state: UInt64 = 0
    notify_get_state(token, &state)
    say("\(line), state \(state)")
  }
}

watchDistributed("AppleInterfaceThemeChangedNotification", as: "the theme has changed")
watchDistributed("com.apple.screenIsLocked", as: "the screen is locked")
watchDistributed("com.apple.screenIsUnlocked", as: "the screen is unlocked")
watch("com.apple.system.config.network_change", as: "the network has changed")
watch("com.apple.system.timezone", as: "the time zone has changed")
watch("com.apple.system.powermanagement.clamshellstate", as: "the lid has moved")
say("ready")
RunLoop.main.run()
