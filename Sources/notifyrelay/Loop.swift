// Waits for descriptors, deadlines and work of other threads, on the main thread.

import DarwinNotifySupport
import Glibc

/// The event loop of the main thread, which everything else runs on.
final class Loop {
  /// What other threads give to this one.
  let inbox: Inbox

  /// Runs after all that is ready has been handled, before the loop waits again.
  var beforeWaiting: () -> Void = {}

  private var descriptors: [CInt: Source] = [:]
  private var deadlines: [String: (at: ContinuousClock.Instant, run: () -> Void)] = [:]

  private struct Source {
    var wantsWriting: () -> Bool
    var run: () -> Void
  }

  init() {
    inbox = Inbox()
  }

  /// Calls a function whenever a descriptor can be read or, if wanted, written.
  func watch(
    _ descriptor: CInt, wantsWriting: @escaping () -> Bool = { false }, run: @escaping () -> Void
  ) {
    descriptors[descriptor] = Source(wantsWriting: wantsWriting, run: run)
  }

  func unwatch(_ descriptor: CInt) {
    descriptors[descriptor] = nil
  }

  /// Calls a function once after a time, unless another one gets the key before that.
  func set(_ key: String, after delay: Duration, _ run: @escaping () -> Void) {
    deadlines[key] = (.now + delay, run)
  }

  func clear(_ key: String) {
    deadlines[key] = nil
  }

  func run() -> Never {
    while true {
      beforeWaiting()
      wait()
      inbox.runJobs()
      let now = ContinuousClock.now
      for (key, deadline) in deadlines where deadline.at <= now {
        deadlines[key] = nil
        deadline.run()
      }
    }
  }

  private func wait() {
    var waits = [pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0)]
    for (descriptor, source) in descriptors {
      let events = source.wantsWriting() ? POLLIN | POLLOUT : POLLIN
      waits.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }
    guard poll(&waits, nfds_t(waits.count), timeout) > 0 else { return }
    for wait in waits where wait.revents != 0 { descriptors[wait.fd]?.run() }
  }

  /// The milliseconds until the next deadline, -1 if there is none.
  private var timeout: CInt {
    guard let next = deadlines.values.map(\.at).min() else { return -1 }
    let milliseconds = (next - .now) / .milliseconds(1)
    return CInt(max(0, min(milliseconds.rounded(.up), 1e9)))
  }
}

/// What other threads give to the loop: names that were posted, each once, and jobs.
nonisolated final class Inbox: Sendable {
  private struct Contents {
    var isRung = false
    var names: Set<String> = []
    var channels: Set<Int> = []
    var jobs: [@MainActor @Sendable () -> Void] = []
  }

  /// Readable when there is something.
  let descriptor: CInt
  private let writeEnd: CInt
  private let contents = Locked(Contents())

  fileprivate init() {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { fatalError("no descriptor is left") }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    (descriptor, writeEnd) = (ends[0], ends[1])
  }

  /// Notes that a name was posted. It never blocks.
  func note(name: String) {
    give { $0.names.insert(name) }
  }

  /// Notes that something was passed to a message name.
  func note(channel: Int) {
    give { $0.channels.insert(channel) }
  }

  /// Runs a job on the main thread.
  func run(_ job: @escaping @MainActor @Sendable () -> Void) {
    give { $0.jobs.append(job) }
  }

  /// Takes the names and channels that were noted.
  func take() -> (names: Set<String>, channels: Set<Int>) {
    contents.withLock { contents in
      // Jobs are taken when the descriptor has been read.
      if contents.isRung, contents.jobs.isEmpty {
        var byte: UInt8 = 0
        _ = read(descriptor, &byte, 1)
        contents.isRung = false
      }
      let taken = (contents.names, contents.channels)
      (contents.names, contents.channels) = ([], [])
      return taken
    }
  }

  @MainActor fileprivate func runJobs() {
    let jobs = contents.withLock { contents in
      let jobs = contents.jobs
      contents.jobs = []
      return jobs
    }
    for job in jobs { job() }
  }

  private func give(_ change: (inout Contents) -> Void) {
    contents.withLock { contents in
      change(&contents)
      guard !contents.isRung else { return }
      contents.isRung = true
      var byte: UInt8 = 1
      _ = write(writeEnd, &byte, 1)
    }
  }
}
