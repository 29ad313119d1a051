// Runs the command of `--exec`.
import DarwinNotify
import Glibc

struct Hook {
  let command: String
  let failures: Failures

  /// Runs the command for a notification, and waits until it ends.
  func run(for name: NotificationName, state: UInt64?, _ event: DistributedEvent?) {
    var process: pid_t = 0
    let variables = [
      "NAME=\(name)", state.map { "STATE=\($0)" }, event?.object.map { "OBJECT=\($0)" },
      event?.userInfo?.json.map { "USER_INFO=\($0)" },
    ].compactMap { $0 }
    let error = spawn(&process, environment(with: variables.map { "NOTIFY_\($0)" }))
    guard error == 0 else {
      return failures.report("--exec", String(cString: strerror(error)))
    }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 {
      // The parent may have made this process ignore its children; their statuses are then lost.
      guard errno == EINTR else { return }
    }
    let signal = status & 0x7f
    if signal != 0 {
      failures.report("--exec", "the command was killed by signal \(signal)")
    } else if status != 0 {
      failures.report("--exec", "the command exited with status \(status >> 8 & 0xff)")
    }
  }

  private func spawn(_ process: inout pid_t, _ environment: [String]) -> CInt {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads of a queue block signals, which the command would inherit.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = cStrings(["sh", "-c", command])
    let variables = cStrings(environment)
    defer { (words + variables).forEach { free($0) } }
    return posix_spawn(&process, "/bin/sh", nil, &attributes, words, variables)
  }

  /// Copies of strings, terminated by NULL.
  private func cStrings(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
    strings.map { string in strdup(string) } + [nil]
  }

  private static let variables = [
    "NOTIFY_NAME=", "NOTIFY_STATE=", "NOTIFY_OBJECT=", "NOTIFY_USER_INFO=",
  ]

  /// The environment of this process, with these variables replaced.
  private func environment(with variables: [String]) -> [String] {
    var inherited: [String] = []
    var next = environ
    while let variable = next.pointee {
      let text = String(cString: variable)
      if !Self.variables.contains(where: text.hasPrefix) { inherited.append(text) }
      next += 1
    }
    return inherited + variables
  }
}
