// Finds the last change of a value.

internal import DarwinNotifySupport
internal import FoundationEssentials

/// A position among the changes of a value.
struct DefaultsReader<Value: Codable & Sendable>: StoredReader {
  private let key: DefaultsKey<Value>
  private let store: MessageStore
  private(set) var position: StoredPosition

  /// Whether the next value is reported even if it has not changed.
  private var reportsAnyway: Bool

  /// The state before the last change was read.
  private var before: (position: StoredPosition, reportsAnyway: Bool)

  /// Begins after a position; `nil` begins with the current value.
  init(_ key: DefaultsKey<Value>, in store: MessageStore, after position: StoredPosition?) {
    (self.key, self.store) = (key, store)
    (self.position, reportsAnyway) = (position ?? StoredPosition(), position == nil)
    before = (self.position, reportsAnyway)
  }

  var readsNewest: Bool { true }

  mutating func read(
    within limit: WorkLimit?
  ) throws -> StoredPage<SharedDefaults.Change<Value>> {
    before = (position, reportsAnyway)
    // After an error the value is reported again.
    reportsAnyway = true
    let change = try store.lastChange(of: key, within: limit)
    let found = change.position ?? StoredPosition()
    defer { (position, reportsAnyway) = (found, false) }
    guard before.reportsAnyway || !position.isSame(as: found) else { return StoredPage() }
    return StoredPage(elements: [(found.number, change)])
  }

  mutating func goBack() {
    (position, reportsAnyway) = before
  }

  func element(for error: WormholeError) -> SharedDefaults.Change<Value>? {
    SharedDefaults.Change(error)
  }
}

extension MessageStore {
  /// Returns the last change of a value.
  func lastChange<Value>(
    of key: DefaultsKey<Value>, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> SharedDefaults.Change<Value> {
    let found = try newestChange(of: key.name, within: limit)
    return SharedDefaults.Change(key, of: found)
  }
}

extension StoredPosition {
  /// Whether both follow the same record. A name without records has none in any store.
  fileprivate func isSame(as other: Self) -> Bool {
    guard number == other.number, number > 0 else { return number == other.number }
    return identity == other.identity && !isInOtherFile(than: other)
  }
}

extension SharedDefaults.Change {
  /// The value that a handler gets for an error of the store.
  fileprivate init(_ error: WormholeError) {
    self.init(
      result: .failure(error), isRemoved: false, sender: nil, date: nil, position: nil)
  }

  fileprivate init(_ key: DefaultsKey<Value>, of newest: StoredBatch) {
    let record = newest.records.first
    self.init(
      result: Result { () throws(WormholeError) in try key.value(of: record?.content) },
      isRemoved: record?.isMessage != true, sender: record.map { Sender($0.sender) },
      date: record.map { Date(nanoseconds: $0.time) },
      position: newest.position(after: record?.number ?? 0))
  }
}
