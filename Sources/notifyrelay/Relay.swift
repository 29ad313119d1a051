// Joins the session of this machine with its realms.

import DarwinNotify
import Glibc

/// Everything that runs, and belongs to the thread that has the turn. Local posts and messages are
/// counted, published and stored; those of other machines are posted, stored, and only then
/// acknowledged.
final class Relay {
  private let turn: Turn
  let loop: Loop
  private let inbox: Inbox
  let origin: Origin
  let store: Store
  let names: LocalNames
  let channels: Channels
  private(set) var groups: [String: LocalGroup] = [:]
  private(set) var realms: [Realm] = []

  /// All origins but this one, by the numbers that their records bear.
  var foreignOrigins: Set<UInt64> = []

  private var signals: [any Sendable] = []
  private var socket: StatusSocket?

  /// Whether a deadline is set to store what has changed, and whether it has passed.
  private var isKeptSoon = false
  private var mustKeep = false

  init(_ settings: [RealmSettings]) throws(Mistake) {
    let directory = try File.stateDirectory()
    guard try File.lock("\(directory)/lock") else {
      throw Mistake("a relay of this user is already running: see notifyrelay --status", status: 3)
    }
    turn = Turn()
    inbox = Inbox(turn)
    loop = Loop(turn)
    origin = try Origin(in: directory)
    store = try Store(in: directory)
    names = LocalNames(store: store, inbox: inbox)
    channels = Channels(inbox: inbox)
    for realm in settings { realms.append(try Realm(realm, of: self)) }
    for realm in realms { foreignOrigins.formUnion(try realm.metOrigins()) }
  }

  func run() throws(Mistake) -> Never {
    turn.finish = { [self] in
      settle()
      loop.prepare()
    }
    var mistake: Mistake?
    turn.take {
      do throws(Mistake) { try begin() } catch { mistake = error }
    }
    if let mistake { throw mistake }
    loop.run()
  }

  private func begin() throws(Mistake) {
    SignalPipe.open(on: loop) { [self] in end() }
    do {
      try names.begin(sharing: Array(Set(realms.flatMap(\.settings.prefixes))))
      for name in Set(realms.flatMap(\.settings.groups)) {
        groups[name] = try LocalGroup(name, loop: loop, channels: channels)
      }
    } catch let mistake as Mistake {
      throw mistake
    } catch {
      notifyrelay.end(Mistake("notifications cannot be used here: \(error)", status: 2))
    }
    channels.found = { [self] channel in for realm in realms { realm.hasFound(channel) } }
    for group in groups.values { try group.begin() }
    for realm in realms { try realm.begin() }
    socket = try StatusSocket(on: loop) { [self] in Status(self) }
  }

  /// The origin of a record: that of another machine, or ours.
  func origin(of process: UInt64) -> Origin {
    foreignOrigins.contains(process) ? Origin(number: process) : origin
  }

  /// Runs what can only fail if the disk does, which ends the program: it goes on where it was.
  func keeping<Value>(_ body: () throws -> Value) -> Value {
    do {
      return try body()
    } catch {
      notifyrelay.end((error as? Mistake) ?? Mistake("\(error)", status: 2))
    }
  }

  private func settle() {
    let noted = inbox.take()
    var posted = noted.names
    for realm in realms { posted.formUnion(realm.postArrivedNames()) }
    for name in names.count(posted) {
      for realm in realms { realm.hasPosted(name) }
    }
    for index in noted.channels {
      for realm in realms { realm.hasChanged(channels.all[index]) }
    }
    if realms.contains(where: { $0.unacknowledged > 0 }) {
      guard mustKeep || realms.contains(where: \.isInHurry) else { return keepSoon() }
      keep()
    }
    // Publishing first lets others hear sooner. A count that is not stored afterwards is counted
    // again at the next start.
    for realm in realms { realm.publish() }
    if mustKeep { keep() } else if names.hasChanges || store.hasChanges { keepSoon() }
  }

  /// Stores what has changed. Received messages are acknowledged only after that, so all of them
  /// must have been posted.
  func keep() {
    keeping {
      try names.keep()
      try store.commit()
    }
    mustKeep = false
    for realm in realms { realm.didKeep() }
  }

  /// Stores in a turn a little later, because the broker and the observers of a post need the
  /// processor first.
  private func keepSoon() {
    guard !isKeptSoon else { return }
    isKeptSoon = true
    loop.set("keep", after: .milliseconds(2)) { [self] in
      isKeptSoon = false
      mustKeep = true
    }
  }

  /// Another relay has taken over a realm. If none is left, this relay ends.
  func hasStopped(_ advice: String) {
    guard realms.allSatisfy({ $0.state == .stopped }) else { return say(advice) }
    keep()
    notifyrelay.end(Mistake(advice, status: 3))
  }

  private func end() {
    mustKeep = true
    settle()
    keep()
    for realm in realms { realm.end() }
    socket?.remove()
    exit(0)
  }
}
