// Tells who may post which names.
import DarwinNotify
import Glibc

enum Permission {
  /// Returns why this user may not post a name or set its state; `nil` if it may.
  ///
  /// The library, like Apple's, silently ignores such a post.
  static func refusal(of name: NotificationName) -> String? {
    let (name, user) = (name.rawValue, geteuid())
    guard user != 0 else { return nil }
    if name.hasPrefix("com.apple.system.") { return "only root may post the name or set its state" }
    guard name.hasPrefix("user.uid.") else { return nil }
    let own = "user.uid.\(user)"
    return name == own || name.hasPrefix("\(own).") ? nil : "the name belongs to another user"
  }
}
