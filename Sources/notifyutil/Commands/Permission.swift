// Checks which names the user may post.
import DarwinNotify

enum Permission {
  /// Returns why this user may not post a name or set its state; `nil` if it may.
  ///
  /// The library, like Apple's, silently ignores such a post.
  static func refusal(of name: NotificationName) -> String? {
    guard !name.mayBePosted else { return nil }
    return name.rawValue.hasPrefix("user.uid.")
      ? "the name belongs to another user" : "only root may post the name or set its state"
  }
}
