// Counts the posts of a name by the programs of this machine.

import DarwinNotify
import FoundationEssentials

/// A name that this process holds, so that its posts are counted and its state is kept.
final class HeldName {
  let name: NotificationName
  private(set) var row: NameRow

  private let token: NotifyToken
  private let changes: Changes
  private var postsOfOurs: UInt32 = 0

  /// Whether the name was posted while no relay was running, and the table does not show how often.
  private var isUncertain = false

  /// Whether the row must be stored.
  private var isChanged = false {
    didSet { if isChanged, !oldValue { changes.names.append(self) } }
  }

  /// The names whose rows must be stored.
  final class Changes {
    var names: [HeldName] = []
  }

  init(_ name: String, row: NameRow, changes: Changes) throws {
    self.name = NotificationName(name)
    self.row = row
    self.changes = changes
    token = try NotifyToken(self.name)
  }

  var count: UInt64 { row.count }

  /// The current count of the token, which includes the posts of this process.
  var peek: UInt32 { (try? token.peek()) ?? row.peek }

  /// Takes note that the row is stored.
  func markStored() {
    isChanged = false
  }

  /// Counts the posts since the last call. Returns whether there were any but our own.
  func countPosts() -> Bool {
    let now = peek
    let foreign = now &- row.peek &- postsOfOurs
    if now != row.peek { isChanged = true }
    (row.peek, postsOfOurs) = (now, 0)
    // Half of the numbers stand for a table that counts less than the one before.
    guard foreign > 0, foreign < 1 << 31 else { return false }
    row.count += UInt64(foreign)
    row.posted = Date.nowNanoseconds
    noteState()
    return true
  }

  /// The knowledge about posts before this process held the name.
  enum Past {
    case notPosted
    case postedOnce
    /// The table is still the one of the last run, and has counted them.
    case counted
    /// The table is another one. Some of its posts may be published already.
    case perhaps
  }

  /// Begins to count. Nothing that was posted before this matters, but what no relay has published.
  /// The state that was taken over last may not be in the row after a crash.
  /// If the table has kept the state for a program that holds the name, 0 is what that has set.
  func begin(after past: Past, _ taken: TakenState? = nil, hasKeptState: Bool = false) {
    if let taken, taken.state == token.state, taken.set > row.stateSet { take(taken) }
    let now = peek
    let posts: UInt32 =
      switch past {
      case .notPosted: 0
      case .postedOnce: 1
      case .counted: now &- row.peek
      case .perhaps: now > 1 ? 1 : 0
      }
    if posts > 0 {
      row.count += UInt64(posts)
      row.posted = Date.nowNanoseconds
      noteState()
    } else if row.state != 0, token.state == 0, !hasKeptState {
      token.state = row.state  // It ended with the process that held the name.
    }
    isUncertain = past == .perhaps && posts > 0
    row.peek = now
    isChanged = true
  }

  /// The broker keeps a count of this name. If it is greater than ours, this machine has lost its
  /// last changes. If we do not know which posts it counts, one more is heard by the others.
  func raise(to count: UInt64, isFirstContact: Bool) {
    let least = isUncertain && isFirstContact ? count + 1 : count
    guard least > row.count else { return }
    row.count = least
    isChanged = true
  }

  /// Whether the state that another origin has set is later than the known one.
  func isNew(_ taken: TakenState, own: Origin) -> Bool {
    noteState()
    let known = row.stateOrigin.number == 0 ? own : row.stateOrigin
    return taken.set > 0 && (taken.set, taken.origin) > (row.stateSet, known)
  }

  /// Takes over the state that another origin has set.
  func take(_ taken: TakenState) {
    (row.state, row.stateSet, row.stateOrigin) = (taken.state, taken.set, taken.origin)
    token.state = taken.state
    isChanged = true
  }

  /// Posts for another origin. The post is not counted.
  func post() {
    postsOfOurs &+= 1
    // Without a bus it has reached the processes that share the table.
    try? DarwinNotificationCenter.shared.post(name)
  }

  /// The payload to publish.
  var payload: NamePayload {
    let isOwn = row.stateOrigin.number == 0 && row.stateSet > 0
    return NamePayload(
      count: row.count, posted: row.posted, state: isOwn ? row.state : 0,
      stateSet: isOwn ? row.stateSet : 0)
  }

  /// Notices that a program of this machine has set the state.
  private func noteState() {
    let state = token.state
    guard state != row.state else { return }
    // Later than the one that it replaces, though the clock of another origin may be ahead.
    let set = max(Date.nowNanoseconds, min(row.stateSet, .max - 1) + 1)
    (row.state, row.stateSet, row.stateOrigin) = (state, set, Origin(number: 0))
    isChanged = true
  }
}
