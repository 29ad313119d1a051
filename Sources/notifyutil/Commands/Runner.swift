// Runs the commands.
import DarwinNotify
import Glibc

struct Runner {
  let settings: Settings
  let registrations: Registrations
  let failures: Failures

  /// Runs the commands from left to right. One that fails does not stop the others.
  func run(_ commands: [Command]) {
    let lastRegistration = commands.lastIndex(where: \.isRegistration)
    var isAllRegistered = true
    for (index, command) in commands.enumerated() {
      let isDone = run(command)
      if command.isRegistration, !isDone { isAllRegistered = false }
      if index == lastRegistration, isAllRegistered, let descriptor = settings.readyDescriptor {
        Ready.tell(descriptor)
      }
    }
  }

  /// Returns whether the command succeeded.
  private func run(_ command: Command) -> Bool {
    do {
      switch command {
      case .post(let key): return try post(key, command)
      case .postDistributed(let post): return self.post(post, command)
      case .get(let key): try get(key)
      case .set(let key, let state): return try set(key, state, command)
      case .register(let key, let kind, let count): try registrations.add(key, kind, count: count)
      case .list(let prefix):
        try NameList(prefix: prefix, isJSON: settings.isJSON, bus: failures.bus).print()
      case .metrics(let prefix): Output.print(try Metrics(prefix: prefix).text)
      case .top(let prefix): try startTop(prefix)
      case .monitor(let prefix): startMonitor(prefix)
      case .doctor(let name, let process): runDoctor(name, process)
      }
      return true
    } catch {
      failures.report(command, error)
      return false
    }
  }

  private func post(_ key: NotificationName, _ command: Command) throws -> Bool {
    if let refusal = Permission.refusal(of: key) {
      failures.report("\(command)", refusal)
      return false
    }
    try NotifyToken.post(key)
    if settings.printing == .everything { reportHolders(of: key) }
    pause()
    return true
  }

  private func post(_ post: DistributedPost, _ command: Command) -> Bool {
    if let refusal = Permission.refusal(of: post.name) {
      failures.report("\(command)", refusal)
      return false
    }
    do throws(DarwinNotifyError) {
      try DistributedCenter.shared.post(
        post.name.rawValue, object: post.object, userInfo: post.userInfo?.list, options: 0)
      return true
    } catch {
      failures.report(command, error)
      return false
    }
  }

  /// Says how many processes a post could reach through the table.
  private func reportHolders(of key: NotificationName) {
    guard !key.rawValue.hasPrefix("self."), let names = try? DarwinNotificationCenter.names()
    else { return }
    let count = names.first { $0.name == key }?.holders.count ?? 0
    Output.complain(
      "notifyutil: -p \(quotedIfNeeded(key.rawValue)): "
        + (count == 1 ? "1 process has" : "\(count) processes have") + " registered the name")
  }

  /// Waits. A signal does not cut the pause short.
  private func pause() {
    let milliseconds = Int(settings.pauseMilliseconds)
    var time = timespec(
      tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    var rest = timespec()
    // One of the ways to sleep in which the thread sanitizer lets signals through.
    while nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
  }

  private func get(_ key: NotificationName) throws {
    let token = try NotifyToken(key)
    defer { token.cancel() }
    let state = try token.readState()
    guard settings.isJSON else { return Output.print("\(key) \(state)") }
    Output.print(
      JSON.object([("name", .string(key.rawValue)), ("state", .string("\(state)"))]).text)
  }

  private func set(
    _ key: NotificationName, _ state: UInt64, _ command: Command
  ) throws -> Bool {
    if let refusal = Permission.refusal(of: key) {
      failures.report("\(command)", refusal)
      return false
    }
    let isKept = isKept(key)
    let token = try NotifyToken(key)
    defer { token.cancel() }
    try token.setState(state)
    // The command has done what it can.
    if !isKept {
      Output.complain(
        "notifyutil: \(command): no process has registered the name, so the state is not kept")
    }
    return true
  }

  /// Whether a state outlives this command, as far as the table shows.
  private func isKept(_ key: NotificationName) -> Bool {
    guard !key.rawValue.hasPrefix("self."), let names = try? DarwinNotificationCenter.names()
    else { return true }
    return names.contains { $0.name == key }
  }

  private func runDoctor(_ name: NotificationName?, _ process: Int32?) {
    let doctor = Doctor(
      name: name, process: process, isProbing: settings.isProbing, isJSON: settings.isJSON,
      bus: failures.bus)
    failures.note(doctor.run())
  }

  private func startTop(_ prefix: String) throws {
    registrations.keepRunning()
    try Top(prefix: prefix, bus: failures.bus).start()
  }

  private func startMonitor(_ prefix: String) {
    registrations.keepRunning()
    Monitor(prefix: prefix, isJSON: settings.isJSON, failures: failures).start()
  }
}
