// Records what happened, and in which order.
internal import DarwinNotifySupport

/// A list that several threads append to.
package final class Log<Entry: Sendable>: Sendable {
  private let kept = Locked<[Entry]>([])

  package init() {}

  package func append(_ entry: Entry) {
    kept.withLock { $0.append(entry) }
  }

  package var entries: [Entry] { kept.withLock { $0 } }
}
