// Runs the commands.
import DarwinNotify
import Glibc

struct Runner {
  let settings: Settings
  let watch: Watch

  /// Runs the commands from left to right. One that fails does not stop the others.
  func run(_ commands: [Command]) {
    for command in commands {
      switch command {
      case .post(let key): post(key)
      case .get(let key): get(key)
      case .set(let key, let state): set(key, state)
      case .watch(let key, let kind, let count): register(key, kind, count)
      case .list: NameList(isJSON: settings.isJSON).print()
      case .monitor(let prefix): startMonitor(prefix)
      }
    }
  }

  private func post(_ key: NotificationName) {
    do throws(NotifyError) {
      try NotifyToken.post(key)
      pause()
    } catch {
      Failure.report(key, error)
    }
  }

  /// Waits. A signal does not cut it short.
  private func pause() {
    let milliseconds = Int(settings.pauseMilliseconds)
    var time = timespec(
      tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    var rest = timespec()
    // Of the ways to sleep this is one in which the thread sanitizer lets signals through.
    while nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
  }

  private func get(_ key: NotificationName) {
    withToken(for: key) { (token) throws(NotifyError) in
      Output.print("\(key) \(try token.readState())")
    }
  }

  private func set(_ key: NotificationName, _ state: UInt64) {
    withToken(for: key) { (token) throws(NotifyError) in
      try token.setState(state)
    }
  }

  private func register(_ key: NotificationName, _ kind: Kind, _ count: Int?) {
    do throws(NotifyError) {
      try watch.register(key, kind, count: count)
    } catch {
      Failure.report(key, error)
    }
  }

  private func startMonitor(_ prefix: String) {
    watch.keepRunning()
    Monitor(prefix: prefix, isJSON: settings.isJSON).start()
  }

  /// Registers for the time of one command.
  private func withToken(
    for key: NotificationName, _ body: (NotifyToken) throws(NotifyError) -> Void
  ) {
    do throws(NotifyError) {
      let token = try NotifyToken(key)
      try body(token)
      token.cancel()
    } catch {
      Failure.report(key, error)
    }
  }
}
