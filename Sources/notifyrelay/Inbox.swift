// Collects the news of this machine until the end of the turn.

import DarwinNotifySupport

/// The names that were posted and the message names that have changed, each once.
final class Inbox: Sendable {
  private struct Contents {
    var names: Set<String> = []
    var messages: Set<MessageAddress> = []
  }

  private let contents = Locked(Contents())
  private let turn: Turn

  init(_ turn: Turn) {
    self.turn = turn
  }

  /// Notes that a name was posted, and has it handled.
  func note(name: String) {
    contents.withLock { _ = $0.names.insert(name) }
    turn.takeForNews()
  }

  /// Notes that something was passed to a message name, and has it handled.
  func note(_ address: MessageAddress) {
    contents.withLock { _ = $0.messages.insert(address) }
    turn.takeForNews()
  }

  /// Takes what was noted.
  func take() -> (names: Set<String>, messages: Set<MessageAddress>) {
    contents.withLock { contents in
      defer { contents = Contents() }
      return (contents.names, contents.messages)
    }
  }
}
