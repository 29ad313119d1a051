// Counts the posts of shared names on this machine.

import DarwinNotify
import Glibc

/// The names of this machine that begin with a shared prefix.
final class LocalNames {
  private let store: Store
  private let inbox: Inbox
  private var held: [String: HeldName] = [:]
  private var prefixes: [String] = []
  private var observations: [NotificationObservation] = []
  private let changes = HeldName.Changes()

  /// The names that only other machines have posted.
  private var foreign: Set<String> = []

  /// How many names of this machine are not shared, because there are too many or the library
  /// refuses them.
  private(set) var refused = 0

  /// Bounds for the memory that strangers can make us use; they must leave enough for the names of
  /// this machine.
  static let maxCount = 16_384
  static let maxForeignCount = maxCount / 2

  /// The name that each relay holds.
  private static let startName = "notifyrelay.started"

  init(store: Store, inbox: Inbox) {
    (self.store, self.inbox) = (store, inbox)
  }

  /// Except the name that each relay holds.
  var count: Int { held.count - 1 }

  /// Holds the names that are known, and observes all others.
  func begin(sharing prefixes: [String]) throws {
    self.prefixes = prefixes
    try refuseAnotherRelay()
    let start = try HeldName(Self.startName, row: NameRow(), changes: changes)
    held[Self.startName] = start
    try refuseAnotherRelay(isHeldByUs: true)
    let table = try DarwinNotificationCenter.shared.statistics().tableID
    let past = try compareTable(table)
    // Posts counted from now on are not missed, so the names come after it.
    try observe()
    let taken = try store.takenStates()
    let registered = Set(((try? DarwinNotificationCenter.names()) ?? []).map(\.name.rawValue))
    for (name, row) in try store.names() where isShared(name) {
      guard let known = hold(name, row) else { continue }
      if row.count == 0 { foreign.insert(name) }
      known.begin(
        after: past == .counted ? .counted : .perhaps, taken[name],
        hasKeptState: past == .counted && registered.contains(name))
    }
    // A prefix may be a name itself.
    for name in prefixes.filter({ !$0.hasSuffix(".") }) + registered where isShared(name) {
      guard held[name] == nil, let new = hold(name, NameRow()) else { continue }
      new.begin(after: past == .notPosted ? .notPosted : .perhaps, taken[name])
    }
    // Stored at once and together: after a start that ends earlier, the next one finds the same.
    try keep()
    try store.setTable(table)
    try store.commit()
  }

  /// Two relays that hear each other would pass a post back and forth forever. A name shows that
  /// there is one, so they need nothing in common but the session. Of two that start at the
  /// same time, the one with the smaller number goes on.
  private func refuseAnotherRelay(isHeldByUs: Bool = false) throws(Mistake) {
    let names = (try? DarwinNotificationCenter.names()) ?? []
    let holders = names.first { $0.name.rawValue == Self.startName }?.holders ?? []
    let others = holders.filter { $0 != getpid() }
    guard let other = others.first(where: { !isHeldByUs || $0 ?? 0 < getpid() }) else { return }
    let process = other.map { ", as process \($0)" } ?? ""
    throw Mistake("a relay of this session is already running\(process)", status: 3)
  }

  /// A name that is held here is counted by the table, which notifies the observers of a prefix.
  private func observe() throws {
    for prefix in prefixes {
      observations.append(
        try DarwinNotificationCenter.shared.observe(withPrefix: prefix, on: .thread) {
          [inbox] event in inbox.note(name: event.name.rawValue)
        })
    }
  }

  /// Finds out whether the table is still the one of the last run, in which counts go on. At the
  /// first run nothing that was posted before matters.
  private func compareTable(_ table: UInt64) throws -> HeldName.Past {
    try store.table.map { $0 == table && table != 0 ? .counted : .perhaps } ?? .notPosted
  }

  /// Returns a shared name, held from now on; `nil` if that is not possible.
  func find(_ name: String, isForeign: Bool = false) -> HeldName? {
    if let known = held[name] { return known }
    guard !isForeign || foreign.count < Self.maxForeignCount,
      let new = hold(name, NameRow())
    else { return nil }
    if isForeign { foreign.insert(name) }
    new.begin(after: .notPosted)
    return new
  }

  private func hold(_ name: String, _ row: NameRow) -> HeldName? {
    guard held.count < Self.maxCount,
      let new = try? HeldName(name, row: row, changes: changes)
    else {
      if refused == 0 {
        say("\(name) is not shared: there are \(count) names already, or notify(3) refuses it")
      }
      refused += 1
      return nil
    }
    held[name] = new
    return new
  }

  /// Takes over the state that another origin has set, unless a later one is known.
  func take(_ taken: TakenState, of held: HeldName, own: Origin) throws {
    guard held.isNew(taken, own: own) else { return }
    // After a crash, a state that was not stored would be taken for one that was set here.
    try store.set(taken, of: held.name.rawValue)
    try store.commit()
    held.take(taken)
  }

  /// Counts the posts of the noted names. Returns the names that others must hear of.
  func count(_ names: Set<String>) -> [String] {
    names.filter { name in
      if let known = held[name] {
        guard known.countPosts() else { return false }
        foreign.remove(name)
        return name != Self.startName
      }
      guard isShared(name), let new = hold(name, NameRow()) else { return false }
      // A prefix reveals names that nobody holds. From now on they are counted.
      new.begin(after: .postedOnce)
      return true
    }
  }

  /// Whether there is something to keep.
  var hasChanges: Bool { !changes.names.isEmpty }

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
func isReserved(_ name: String) -> Bool {
  let name = "\(name)."
  return reservedPrefixes.contains { name.utf8.starts(with: $0.utf8) }
}

private let reservedPrefixes = ["user.uid.", "com.apple.system.", "self.", "wormhole."]
