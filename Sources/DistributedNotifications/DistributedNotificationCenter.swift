// Gives access to the distributed notifications of a bus.

internal import DarwinNotifySupport
public import DarwinNotify
internal import Foundation

/// A notification center whose notifications carry an object and a user info to every process on
/// the same bus.
///
/// The functions with the signatures of Apple's class of this name cannot throw: they hand their
/// errors to ``onError``. Beside each of them stands one that throws.
///
/// Posts are queued, never merged. An observer gets those of each process in the order in which
/// they were posted, all of them, as long as both processes are connected. If more than 65,536 of
/// them wait for it, the oldest are dropped, and the next one says how many.
///
/// The corresponding C type is `dn_center`.
public final class DistributedNotificationCenter: Sendable {
  let center: DistributedCenter
  let observers = ObserverTable()
  private let errorHandler = Locked<@Sendable (DistributedNotificationError) -> Void>(printError)

  private static let shared = DistributedNotificationCenter(.shared)

  private init(_ center: DistributedCenter) {
    self.center = center
  }

  /// Returns the center of the process.
  ///
  /// It speaks on the bus of the session, or on the one that the environment variable
  /// `DARWIN_NOTIFY_BUS` names. The corresponding C function is `dn_center_distributed`.
  public class func `default`() -> DistributedNotificationCenter {
    shared
  }

  /// Opens a center of its own, with a connection of its own. It closes in the background.
  ///
  /// - Parameter bus: the bus to speak on. A bus that is not there is looked for until it is.
  /// - Throws: ``DarwinNotify/DarwinNotifyError/invalidArgument`` for an address that is empty or
  ///   has a NUL in it, ``DarwinNotify/DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_open_distributed`.
  public convenience init(bus: DarwinNotificationCenter.Bus) throws(DarwinNotifyError) {
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

    /// Posts are delivered, behind all that was kept for any observer.
    case deliverImmediately = 4
  }

  /// How a notification is posted.
  ///
  /// The corresponding C values are those of `DN_POST_DELIVER_IMMEDIATELY` and the like.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes options from their bits; unknown ones are ignored.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// To all observers at once, those that are suspended as well, behind what was kept for them.
    public static let deliverImmediately = Options(rawValue: 1 << 0)

    /// To all sessions of the user: those that share the bus, as every post does.
    public static let postToAllSessions = Options(rawValue: 1 << 1)
  }

  /// Whether the observers of this process are suspended. No center is unless told so.
  ///
  /// Each observer then gets what its ``SuspensionBehavior`` says. The end of the suspension
  /// delivers at once what was kept, in the order in which it was posted. The corresponding C
  /// functions are `dn_center_is_suspended` and `dn_center_set_suspended`.
  public var suspended: Bool {
    get { center.isSuspended }
    set { report { () throws(DarwinNotifyError) in try center.setSuspended(newValue) } }
  }

  /// Whether the center is connected to its bus at the moment.
  ///
  /// The corresponding C function is `dn_center_is_on_bus`.
  public var isOnBus: Bool { center.isOnBus }

  /// What is done with the errors of the functions that have Apple's signatures. At first, a line
  /// is written to the standard error.
  ///
  /// It is called on the thread of the function, before that returns. To have no bus is no error
  /// there: the post has reached the observers of this process, and is sent when a bus appears.
  public var onError: @Sendable (DistributedNotificationError) -> Void {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  /// Calls a function, and hands its error to `onError`.
  func report<Failure: Error>(_ body: () throws(Failure) -> Void) {
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

private func printError(_ error: DistributedNotificationError) {
  FileHandle.standardError.write(Data("DistributedNotificationCenter: \(error)\n".utf8))
}
