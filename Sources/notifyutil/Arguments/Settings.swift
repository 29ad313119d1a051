// Holds what applies to the whole run, wherever it stands on the command line.
import DarwinNotify
import Glibc

/// What an event prints.
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
  /// The command for each notification.
  var hook: String?
  /// Where to say that everything is registered.
  var readyDescriptor: CInt?
  /// In seconds.
  var timeout: Double?
  var waitsForBus = false

  /// Makes them count. The library reads the bus at its first use.
  func apply() {
    if let bus { setenv("DARWIN_NOTIFY_BUS", bus, 1) }
    if !options.isEmpty { NotifyToken.setOptions(options) }
  }
}
