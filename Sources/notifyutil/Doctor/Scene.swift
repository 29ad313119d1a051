// Holds what the doctor has looked at.

import DarwinNotify

/// Everything that the checks judge, as it was found: they look at nothing themselves.
struct Scene {
  /// What the user asks about.
  var name: NotificationName?
  var process: Int32?
  /// Why this user may not post the name.
  var refusal: String?

  var user: UInt32 = 0
  var mountNamespace: String?
  var bus = BusLook()
  var table = TableLook()
  /// The processes that have a table, and the one asked about if it can be examined.
  var processes: [ProcessLook] = []
  /// Processes of other users, of which nothing can be seen.
  var hiddenProcesses = 0
  /// Whether the process asked about exists, and has not ended.
  var processExists = true
}

/// The bus of this shell.
struct BusLook {
  enum Answer: Equatable {
    /// No bus is chosen.
    case notChosen
    case unreachable
    /// It accepts connections and then says nothing.
    case silent
    case refusesUser
    case answers
  }

  var answer = Answer.notChosen
  /// The address that was tried last, or the reason why there is none.
  var address = ""
  /// The variable or option that determined it.
  var origin = ""
  /// Why it cannot be reached.
  var reason = ""
  var advice = ""
  /// Whether it is the system bus.
  var isForAllUsers = false
  /// Whether the address follows from the runtime directory.
  var isFromDirectory = false
  /// The name of its socket, as the kernel shows it.
  var socket: String?
  /// The process that listens there, as in `dbus-daemon(12)`.
  var server: String?
  /// The user of that process.
  var owner: UInt32?
  /// The process, if it filters messages.
  var filter: String?
  var refusesRules = false
  /// Whether the library is connected to it.
  var isConnected = false
}

/// The table of this shell.
struct TableLook {
  var path: String?
  var file: FileIdentity?
  var content: TableSnapshot?
  /// Whether this process can take part in it.
  var isUsable = false
  /// What the library reported about it.
  var complaints: [String] = []
  /// Processes with unread posts in each of several looks.
  var late: Set<Int32> = []
}

/// A file, whatever its path.
struct FileIdentity: Hashable {
  let device: UInt64
  let number: UInt64
}

/// A process that may observe.
struct ProcessLook {
  let identifier: Int32
  var program: String?
  var user: UInt32 = 0
  var isStopped = false
  var mountNamespace: String?
  /// Its tables, most of the time one.
  var tables: [Table] = []
  var bus = Bus()
  /// `XDG_RUNTIME_DIR` at its start.
  var runtimeDirectory: String?

  struct Table {
    let path: String
    let file: FileIdentity
    let content: TableSnapshot?

    /// The directory and the name of its file. The name tells the version and the bus.
    var parts: (directory: String, name: String) {
      guard let slash = path.lastIndex(of: "/") else { return ("", path) }
      return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// `table5` of `table5-0123456789abcdef`.
    var version: Substring { parts.name.prefix { $0 != "-" } }
  }

  struct Bus {
    /// The socket that it is connected to, as the kernel shows it.
    var socket: String?
    /// The address that its environment had at its start.
    var address: String?
    /// Whether its environment named an address, instead of a directory.
    var isNamed = false
    /// The program that filters its messages.
    var filter: String?
  }

  /// For messages: `panel(4711)`.
  var label: String { program.map { "\(printable($0))(\(identifier))" } ?? "\(identifier)" }
}

extension Scene {
  /// Whether posts of the name stay in their process.
  var isLocal: Bool { name?.rawValue.hasPrefix("self.") ?? false }

  /// The processes that a post should reach: the one asked about, or those that have registered
  /// the name, or all.
  var concerned: [ProcessLook] {
    if let process { return processes.filter { $0.identifier == process } }
    guard let name else { return processes }
    return processes.filter { $0.holds(name) || isHolder($0.identifier, name) }
  }

  /// Whether a process has registered a name in the table of this shell.
  func isHolder(_ process: Int32, _ name: NotificationName) -> Bool {
    table.content?.names.contains { $0.name == name && $0.holders.contains(process) } ?? false
  }

  /// Whether a process shares the table of this shell.
  func sharesTable(_ process: ProcessLook) -> Bool {
    guard let file = table.file else { return false }
    return process.tables.contains { $0.file == file }
  }

  /// Whether a process is on the bus of this shell, as far as can be seen.
  func sharesBus(_ process: ProcessLook) -> Bool {
    guard bus.isConnected else { return false }
    if let socket = process.bus.socket { return socket == bus.socket }
    return process.bus.address == bus.address
  }
}

extension ProcessLook {
  /// Whether it has registered a name in one of its tables.
  func holds(_ name: NotificationName) -> Bool {
    tables.contains { table in
      table.content?.names.contains { $0.name == name && $0.holders.contains(identifier) } ?? false
    }
  }
}
