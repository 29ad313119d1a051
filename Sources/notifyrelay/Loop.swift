// Runs the main thread.

import DarwinNotifySupport
import Glibc

/// The event loop of the main thread. The functions that it calls have the turn.
final class Loop {
  private let turn: Turn
  private let mainThread = pthread_self()
  private var descriptors: [CInt: Source] = [:]
  private var deadlines: [String: (at: ContinuousClock.Instant, run: () -> Void)] = [:]
  private let plan = Locked(Plan())

  private struct Source {
    var wantsWriting: () -> Bool
    var run: () -> Void
  }

  /// The descriptors that the main thread waits for.
  private struct Plan {
    var waits: [Wait] = []
    var deadline: ContinuousClock.Instant?

    struct Wait: Equatable {
      var descriptor: CInt
      var events: Int32
    }
  }

  init(_ turn: Turn) {
    self.turn = turn
  }

  /// Calls a function whenever a descriptor can be read or, if wanted, written.
  func add(
    _ descriptor: CInt, wantsWriting: @escaping () -> Bool = { false }, run: @escaping () -> Void
  ) {
    descriptors[descriptor] = Source(wantsWriting: wantsWriting, run: run)
  }

  func remove(_ descriptor: CInt) {
    descriptors[descriptor] = nil
  }

  /// Calls a function once after a time, unless another one gets the key before that.
  func set(_ key: String, after delay: Duration, _ run: @escaping () -> Void) {
    deadlines[key] = (.now + delay, run)
  }

  /// Decides what to wait for, at the end of each turn.
  func prepare() {
    var new = Plan(deadline: deadlines.values.map(\.at).min())
    new.waits.append(Plan.Wait(descriptor: turn.descriptor, events: POLLIN))
    for (descriptor, source) in descriptors {
      let events = source.wantsWriting() ? POLLIN | POLLOUT : POLLIN
      new.waits.append(Plan.Wait(descriptor: descriptor, events: events))
    }
    let isStale = plan.withLock { old in
      defer { old = new }
      guard old.waits == new.waits, let deadline = new.deadline else {
        return old.waits != new.waits
      }
      return old.deadline.map { deadline < $0 } ?? true
    }
    if isStale, pthread_equal(mainThread, pthread_self()) == 0 { turn.ring() }
  }

  func run() -> Never {
    while true {
      let ready = wait(plan.withLock { $0 })
      turn.take {
        for descriptor in ready { descriptors[descriptor]?.run() }
        runDeadlines()
      }
    }
  }

  /// Returns the descriptors that are ready.
  private func wait(_ plan: Plan) -> [CInt] {
    var waits = plan.waits.map { pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0) }
    guard poll(&waits, nfds_t(waits.count), timeout(until: plan.deadline)) > 0 else { return [] }
    if waits[0].revents != 0 { turn.clearRing() }
    return waits.filter { $0.revents != 0 }.map(\.fd)
  }

  private func runDeadlines() {
    let now = ContinuousClock.now
    for (key, deadline) in deadlines where deadline.at <= now {
      guard deadlines[key]?.at == deadline.at else { continue }  // another one has the key now
      deadlines[key] = nil
      deadline.run()
    }
  }

  /// The milliseconds until a deadline, -1 if there is none.
  private func timeout(until deadline: ContinuousClock.Instant?) -> CInt {
    guard let deadline else { return -1 }
    let milliseconds = (deadline - .now) / .milliseconds(1)
    return CInt(max(0, min(milliseconds.rounded(.up), 1e9)))
  }
}
