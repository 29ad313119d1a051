// Finds the message names of a group.

import DarwinNotify
import Wormhole

/// The messages of a group on this machine. Each change of a name is followed by a post.
final class LocalGroup {
  let name: String
  let store: MessageStore
  private let inbox: Inbox
  private var observation: NotificationObservation?

  init(_ name: String, inbox: Inbox) throws(WormholeError) {
    (self.name, self.inbox) = (name, inbox)
    store = try AppGroup(name).store(named: "wormhole")
  }

  /// Takes note of names that have changed, from now on.
  func begin() throws {
    let (prefix, name, inbox) = (store.changeName(of: "").rawValue, name, inbox)
    observation = try store.center.observe(withPrefix: prefix, on: .thread) { event in
      let message = String(event.name.rawValue.utf8.dropFirst(prefix.utf8.count)) ?? ""
      inbox.note(MessageAddress(group: name, name: message))
    }
  }

  /// All names, with the numbers of their last records; none if the store cannot be read now.
  var names: [StoredName] { (try? store.names()) ?? [] }

  /// When to look for new names. Without a bus, posts of names that no program has registered reach
  /// nobody; a bus may drop one.
  var timeToSearch: Duration { store.center.isOnBus ? .seconds(30) : .seconds(1) }

  /// Registers a name, so that all its posts are heard.
  func register(_ message: String) -> NotifyToken? {
    try? NotifyToken(store.changeName(of: message))
  }
}
