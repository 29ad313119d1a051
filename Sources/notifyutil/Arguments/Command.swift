// Names what the tool can be told to do.
import DarwinNotify

/// One command of the command line.
enum Command: Equatable {
  case post(NotificationName)
  case get(NotificationName)
  case set(NotificationName, UInt64)
  case watch(NotificationName, Kind, count: Int?)
  case list
  case monitor(prefix: String)
}

/// A way to be told of posts.
enum Kind: Hashable {
  case dispatch
  case file
  case signal(CInt)
  case check
  case plain

  /// What an event line calls it.
  var label: String {
    switch self {
    case .dispatch: "dispatch"
    case .file: "file"
    case .signal: "signal"
    case .check: "check"
    case .plain: "plain"
    }
  }
}
