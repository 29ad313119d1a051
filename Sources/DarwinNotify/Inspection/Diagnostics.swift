// Hands what the library reports about itself to the program.

internal import CDarwinNotify
internal import DarwinNotifySupport
internal import Glibc

/// The reports of the library about itself.
public enum Diagnostics {
  /// How much a report matters.
  public enum Level: Hashable, Sendable {
    /// What `DARWIN_NOTIFY_DEBUG=1` shows: which bus was found or lost, which table is shared.
    case debug

    /// An error of a function that cannot throw.
    case error
  }

  /// One report.
  public struct Report: Hashable, Sendable {
    /// How much it matters.
    public let level: Level

    /// What happened, in one line.
    public let text: String

    /// Details that are not in the text, such as the `name` of a notification.
    public let metadata: [String: String]
  }

  private static let current = Locked<(@Sendable (Report) -> Void)?>(nil)

  // C borrows it for good, and never writes to it.
  nonisolated(unsafe) private static let taker: UnsafePointer<dn_diagnostics> = {
    let taker = UnsafeMutablePointer<dn_diagnostics>.allocate(capacity: 1)
    taker.initialize(to: dn_diagnostics())
    taker.pointee.invoke = { message, _ in
      if let message { Diagnostics.report(.debug, String(cString: message)) }
    }
    return UnsafePointer(taker)
  }()

  /// Receives the reports of the library, for example for swift-log:
  ///
  ///     let log = Logger(label: "org.example.player")
  ///     Diagnostics.handler = { report in
  ///       log.log(
  ///         level: report.level == .error ? .error : .debug, "\(report.text)",
  ///         metadata: report.metadata.mapValues { .string($0) })
  ///     }
  ///
  /// They are the lines that `DARWIN_NOTIFY_DEBUG=1` has it write to standard error (which bus was
  /// found or lost, which table is shared, and why not), and the errors of functions that cannot
  /// throw, unless the center's own `onError` takes them. Posts are never reported. Set it before
  /// the first use of a center, which may have something to report.
  ///
  /// It is called on the thread that noticed, several at a time. It must be quick and must not use
  /// a center. `nil` is the default: errors, and what the variable asks for, go to standard error.
  ///
  /// The corresponding C function is `dn_set_diagnostics`.
  public static var handler: (@Sendable (Report) -> Void)? {
    get { current.withLock { $0 } }
    set {
      current.withLock { $0 = newValue }
      dn_set_diagnostics(newValue == nil ? nil : taker)
    }
  }

  /// Passes a report to the handler, or writes it to standard error.
  package static func report(_ level: Level, _ text: String, _ metadata: [String: String] = [:]) {
    if let handler { return handler(Report(level: level, text: text, metadata: metadata)) }
    let line = text + "\n"
    _ = line.utf8.withContiguousStorageIfAvailable {
      write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
