// Gives access to the distributed notifications of a bus.

// `Delivery` and `NotificationObservation` belong to its functions.
@_exported public import DarwinNotify
public import DarwinNotifySupport
public import Foundation

/// A notification center whose notifications carry an object and a user info to every process on
/// the same bus.
///
/// The functions with the signatures of Apple's class of this name cannot throw: they pass errors
/// to ``onError``. To catch errors, call `post(_:object:userInfo:options:)` or `observe`.
///
/// Posts are queued, never merged. An observer gets all posts of each process in the order in which
/// they were posted, as long as both processes are connected. If more than 65,536 wait for it, the
/// oldest are dropped, and the next one reports how many.
///
/// The corresponding C type is `dn_center`.
public final class DistributedNotificationCenter: Sendable {
  let center: DistributedCenter
  let observers = ObserverTable()
  private let errorHandler = Locked<@Sendable (DistributedNotificationError) -> Void>({
    Diagnostics.report(
      .error, "DistributedNotificationCenter: \($0)",
      ["path": $0.path, "type": $0.type].compactMapValues { $0 })
  })

  private static let shared = DistributedNotificationCenter(.shared)

  private init(_ center: DistributedCenter) {
    self.center = center
  }

  /// Returns the center of the process.
  ///
  /// It uses the session bus, or the bus that the environment variable `DARWIN_NOTIFY_BUS` names.
  /// The corresponding C function is `dn_center_distributed`.
  public class func `default`() -> DistributedNotificationCenter {
    shared
  }

  /// Opens a separate center with its own connection. It closes in the background.
  ///
  /// - Parameter bus: the bus to use. If it is not there yet, the library keeps looking for it.
  /// - Throws: `DarwinNotifyError.invalidArgument` if the address is empty or
  ///   contains a NUL, `DarwinNotifyError.outOfMemory`.
  ///
  /// The corresponding C function is `dn_center_open_distributed`.
  public convenience init(bus: DarwinNotificationCenter.Bus) throws {
    self.init(try DistributedCenter(bus: bus))
  }

  /// What happens while the observers in this process are suspended.
  ///
  /// The corresponding C values are those of `DN_SUSPENSION_DROP` and the like.
  public enum SuspensionBehavior: UInt, Sendable {
    /// Posts are not kept.
    case drop = 1

    /// The last post of each name and object is kept.
    case coalesce = 2

    /// Posts are kept, as long as there is room.
    case hold = 3

    /// Posts are delivered, after everything kept for any observer.
    case deliverImmediately = 4
  }

  /// How a notification is posted.
  ///
  /// The corresponding C values are those of `DN_POST_DELIVER_IMMEDIATELY` and the like.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from their bits; unknown ones are ignored.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Deliver to all observers at once, including suspended ones, after what was kept for them.
    public static let deliverImmediately = Options(rawValue: 1 << 0)

    /// Deliver to all sessions of the user that share the bus, as every post does.
    public static let postToAllSessions = Options(rawValue: 1 << 1)
  }

  /// Whether the observers of this process are suspended; initially false.
  ///
  /// The ``SuspensionBehavior`` of each observer then decides what it gets. Resuming delivers the
  /// kept posts at once, in the order in which they were posted. The corresponding C functions are
  /// `dn_center_is_suspended` and `dn_center_set_suspended`.
  public var suspended: Bool {
    get { center.isSuspended }
    set { report { try center.setSuspended(newValue) } }
  }

  /// Whether the center is currently connected to its bus.
  ///
  /// The corresponding C function is `dn_center_is_on_bus`.
  public var isOnBus: Bool { center.isOnBus }

  /// Handles the errors of the functions with Apple's signatures. The default hands them to
  /// `Diagnostics`, which writes them to standard error unless it has a handler.
  ///
  /// It is called on the thread of the function, before that returns. A missing bus is not an error
  /// here: the post has reached the observers of this process, and is sent when a bus appears.
  public var onError: @Sendable (DistributedNotificationError) -> Void {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  /// Calls a function and passes its error to `onError`.
  func report(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      let error =
        error as? DistributedNotificationError
        ?? (error as? DarwinNotifyError).map { .failed($0) } ?? .failed(.invalidArgument)
      if error != .failed(.notConnected) { onError(error) }
    }
  }
}

extension DistributedNotificationCenter {
  /// Opens a center that reaches nobody else, for tests: it has no bus, and shares its memory
  /// with no other center, not even with one of this process.
  ///
  /// - Returns: the center. Its posts reach its own observers; its throwing forms report
  ///   ``DistributedNotificationError/failed(_:)`` with `.notConnected`.
  /// - Throws: `DarwinNotifyError.outOfMemory`.
  public static func isolated() throws -> DistributedNotificationCenter {
    try DistributedNotificationCenter(bus: .isolated())
  }
}

/// Why a distributed notification was not posted, or an observer not added.
///
/// A `catch` clause names it, as in `catch DistributedNotificationError.notAPropertyList`. Two
/// errors are equal if they have the same ``code``.
public struct DistributedNotificationError: CodedError, Sendable {
  /// The kinds of errors.
  public enum Code: Hashable, Sendable {
    /// A value is not part of a property list.
    case notAPropertyList

    /// The error of the library below.
    case failed(DarwinNotifyError)
  }

  /// The kind of the error.
  public let code: Code

  /// Where the value stands that is refused, such as `userInfo["songs"][2]`.
  public let path: String?

  /// The type of the value that is refused, such as `URL`.
  public let type: String?

  init(_ code: Code, path: String? = nil, type: String? = nil) {
    self.code = code
    self.path = path
    self.type = type
  }

  /// A value is not part of a property list: it has another type than `String`, `Bool`, an integer
  /// or floating-point number, `Data`, `Date`, an array or a dictionary of these with keys that are
  /// strings, or the types of Foundation that are bridged to them. Nothing was sent.
  public static let notAPropertyList = Self(.notAPropertyList)

  package static func notAPropertyList(path: String, type: String) -> Self {
    Self(.notAPropertyList, path: path, type: type)
  }

  /// A text that cannot be sent. Nothing was sent.
  static func notText(path: String) -> Self {
    Self(.failed(.invalidArgument), path: path)
  }

  /// What the library below has said.
  ///
  /// - Parameter error: the error, such as `.notConnected`.
  /// - Returns: the error, as in `catch DistributedNotificationError.failed(.notConnected)`.
  public static func failed(_ error: DarwinNotifyError) -> Self {
    Self(.failed(error))
  }
}

extension DistributedNotificationError: CustomStringConvertible, LocalizedError {
  /// A description of the error.
  public var description: String {
    switch code {
    case .notAPropertyList:
      "\(path ?? "a value") cannot be in a property list: it is a \(type ?? "another type")"
    case .failed(let error):
      path.map { "\($0) contains a NUL or a Unicode noncharacter" } ?? "\(error)"
    }
  }

  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}
