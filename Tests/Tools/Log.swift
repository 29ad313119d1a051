// Records what happened, and in which order.
internal import DarwinNotifySupport
internal import Synchronization

/// A list that several threads append to.
package final class Log<Entry: Sendable>: Sendable {
  private let kept = Locked<[Entry]>([])

  package init() {}

  package func append(_ entry: Entry) {
    kept.withLock { $0.append(entry) }
  }

  package var entries: [Entry] { kept.withLock { $0 } }
}

/// Something that has happened, or not yet.
package final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .acquiring) }

  package func set() { value.store(true, ordering: .releasing) }
}
