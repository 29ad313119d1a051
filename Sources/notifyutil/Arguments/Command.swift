// The commands of the tool.

import DarwinNotify
import Glibc

/// One command of the command line.
enum Command: Equatable {
  case post(NotificationName)
  case postDistributed(DistributedPost)
  case get(NotificationName)
  case set(NotificationName, UInt64)
  case register(NotificationName, Kind, count: Int?)
  case list(prefix: String)
  case top(prefix: String)
  case metrics(prefix: String)
  case monitor(prefix: String)
  case doctor(NotificationName?, process: Int32?)

  /// Whether it reports notifications of a key.
  var registersKey: Bool {
    if case .register = self { true } else { false }
  }

  var isDoctor: Bool {
    if case .doctor = self { true } else { false }
  }

  /// Whether this process is notified from then on.
  var isRegistration: Bool {
    if case .monitor = self { true } else { registersKey }
  }
}

extension Command: CustomStringConvertible {
  /// The command as given, without its values.
  var description: String {
    switch self {
    case .post(let key): "-p \(quotedIfNeeded(key.rawValue))"
    case .postDistributed(let post):
      "--post-distributed \(quotedIfNeeded(post.name.rawValue))"
    case .get(let key): "-g \(quotedIfNeeded(key.rawValue))"
    case .set(let key, _): "-s \(quotedIfNeeded(key.rawValue))"
    case .register(let key, _, let count):
      "-\(count.map { "\($0)" } ?? "w") \(quotedIfNeeded(key.rawValue))"
    case .list: "--list"
    case .top: "--top"
    case .metrics: "--metrics"
    case .monitor: "--monitor"
    case .doctor: "--doctor"
    }
  }
}

/// A type of registration.
enum Kind: Hashable {
  case dispatch
  case distributed
  case file
  case signal(CInt)
  case check
  case plain

  /// Its name in an event line.
  var label: String {
    switch self {
    case .dispatch: "dispatch"
    case .distributed: "distributed"
    case .file: "file"
    case .signal: "signal"
    case .check: "check"
    case .plain: "plain"
    }
  }
}

/// The form in which an event is printed.
enum Printing: Equatable {
  case nothing
  case key
  case everything
}

/// The settings of a run.
struct Settings: Equatable {
  var printing = Printing.key
  var pauseMilliseconds: UInt32 = 100
  var options: NotifyToken.Options = []
  var isJSON = false
  var bus: String?
  /// The shell command for each notification.
  var hook: String?
  /// Where to report that everything is registered.
  var readyDescriptor: CInt?
  /// In seconds.
  var timeout: Double?
  var waitsForBus = false
  /// Whether the doctor posts to itself.
  var isProbing = false

  /// Applies them to the process. The library chooses its bus at its first use.
  func apply() {
    if let bus { setenv("DARWIN_NOTIFY_BUS", bus, 1) }
    if !options.isEmpty { NotifyToken.setOptions(options) }
  }
}
