// Joins the session of this machine with its realms.

import DarwinNotify
import Glibc
import Wormhole

/// Everything that runs, and belongs to the thread that has the turn. Local posts and messages are
/// counted, published and stored; those of other machines are posted, stored, and only then
/// acknowledged.
final class Relay {
  private let turn: Turn
  let loop: Loop
  let inbox: Inbox
  let origin: Origin
  let store: Store
  let names: LocalNames
  private(set) var realms: [Realm] = []

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
    for realm in settings { realms.append(try Realm(realm, of: self)) }
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
      for realm in realms { try realm.begin() }
    } catch let mistake as Mistake {
      throw mistake
    } catch let error as WormholeError {
      throw Mistake("\(error)", status: 2)
    } catch {
      throw Mistake("notifications cannot be used here: \(error)", status: 2)
    }
    socket = try StatusSocket(on: loop) { [self] in Status(self) }
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
    for address in noted.messages {
      for realm in realms { realm.hasChanged(address) }
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
