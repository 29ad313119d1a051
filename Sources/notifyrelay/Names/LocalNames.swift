// Knows which names are shared, and what is posted on this machine.

import DarwinNotify

/// The names of this machine that begin with a shared prefix.
final class LocalNames {
  private let store: Store
  private let inbox: Inbox
  private var held: [String: HeldName] = [:]
  private var prefixes: [String] = []
  private var observations: [NotificationObservation] = []
  private let changes = HeldName.Changes()

  /// How many names were not taken, since there are too many or the library refuses them.
  private(set) var refused = 0

  /// A bound for the memory that strangers can make us use.
  static let maxCount = 16_384

  /// The name that is posted at each start.
  private static let startName = "notifyrelay.started"

  init(store: Store, inbox: Inbox) {
    self.store = store
    self.inbox = inbox
  }

  /// Without the one that is posted at each start.
  var count: Int { held.count - 1 }

  /// Holds the names that are known, and observes all others.
  func begin(sharing prefixes: [String]) throws {
    self.prefixes = prefixes
    let isSameTable = try beginTable()
    // What is counted from now on is not missed, so the list comes last.
    for (name, row) in try store.names() where isShared(name) {
      guard let name = hold(name, row) else { continue }
      name.begin(wasPosted: isSameTable ? name.peek != row.peek : name.peek > 1)
    }
    for prefix in prefixes {
      observations.append(
        try DarwinNotificationCenter.shared.observe(withPrefix: prefix, on: .direct) {
          [inbox] event in inbox.note(name: event.name.rawValue)
        })
      // It may be a name itself.
      if !prefix.hasSuffix(".") { find(prefix) }
    }
    let registered = (try? DarwinNotificationCenter.names()) ?? []
    for record in registered where isShared(record.name.rawValue) { find(record.name.rawValue) }
    try keep()
  }

  /// Finds out whether the table is still the one of the last run, in which counts go on.
  private func beginTable() throws -> Bool {
    let name = try HeldName(Self.startName, row: NameRow(), inbox: inbox, changes: changes)
    let isSame = try store.startPeek == name.peek
    name.post()
    try store.setStartPeek(name.peek)
    held[Self.startName] = name
    return isSame
  }

  /// Returns a shared name, held from now on; `nil` if that is not possible.
  @discardableResult func find(_ name: String) -> HeldName? {
    if let known = held[name] { return known }
    guard let new = hold(name, NameRow()) else { return nil }
    new.begin(wasPosted: false)
    return new
  }

  private func hold(_ name: String, _ row: NameRow) -> HeldName? {
    guard held.count < Self.maxCount,
      let new = try? HeldName(name, row: row, inbox: inbox, changes: changes)
    else {
      refused += 1
      return nil
    }
    held[name] = new
    return new
  }

  /// Counts the posts of names that were noted. Returns those that others must hear of.
  func count(_ names: Set<String>) -> [String] {
    names.filter { name in
      if let known = held[name] { return known.countPosts() && name != Self.startName }
      guard isShared(name), let new = hold(name, NameRow()) else { return false }
      // A prefix tells of names that nobody holds. From now on they are counted.
      new.begin(wasPosted: true)
      return true
    }
  }

  /// Stores what has changed since the last call.
  func keep() throws {
    for name in changes.names {
      if name.name.rawValue != Self.startName { try store.set(name.row, of: name.name.rawValue) }
      name.markStored()
    }
    changes.names = []
  }

  /// The names of this machine that have been posted here.
  var posted: [String] { held.filter { $0.value.count > 0 && $0.key != Self.startName }.map(\.key) }

  private func isShared(_ name: String) -> Bool {
    !isReserved(name) && prefixes.contains { name.utf8.starts(with: $0.utf8) }
  }
}

/// Whether names that begin with a text never leave a machine or enter it.
nonisolated func isReserved(_ name: String) -> Bool {
  ["user.uid", "com.apple.system", "self", "wormhole"].contains {
    name == $0 || name.utf8.starts(with: "\($0).".utf8)
  }
}
