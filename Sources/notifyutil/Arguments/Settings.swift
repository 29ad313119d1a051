// The settings that apply to the whole run, wherever they stand on the command line.
import DarwinNotify
import Glibc

/// What to print for an event.
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

  /// Applies them to the process. The library chooses its bus at its first use.
  func apply() {
    if let bus { setenv("DARWIN_NOTIFY_BUS", bus, 1) }
    if !options.isEmpty { NotifyToken.setOptions(options) }
  }
}
