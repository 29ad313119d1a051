// Gives access to the notification centers of a process under the names of Core Foundation.
// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

package import DarwinNotify
internal import DarwinNotifySupport
package import DistributedNotifications
internal import Foundation

/// A notification center.
///
/// The functions of Core Foundation report nothing. Here an error goes to ``onError``.
public final class CFNotificationCenter: Sendable {
  let kind: any CenterKind
  let registrations = RegistrationTable()

  private init(_ kind: any CenterKind) {
    self.kind = kind
  }

  fileprivate static let local = CFNotificationCenter(LocalKind())
  fileprivate static let darwin = CFNotificationCenter(DarwinNotificationCenter.shared)
  fileprivate static let distributed = CFNotificationCenter(DistributedNotificationCenter.default())

  /// Gives a Darwin center Apple's interface.
  package convenience init(_ center: DarwinNotificationCenter) {
    self.init(DarwinKind(center))
  }

  /// Gives a distributed center Apple's interface.
  package convenience init(_ center: DistributedNotificationCenter) {
    self.init(DistributedKind(center))
  }

  private static let errorHandler = Locked<@Sendable (any Error) -> Void>({ error in
    let details = error as? CFNotificationCenterError
    Diagnostics.report(
      .error, "\(error)",
      ["function": details?.function, "name": details?.name].compactMapValues { $0 })
  })

  /// The handler of errors: a name that cannot be posted, a user info that is not a property list
  /// and the like. The errors are of the type ``CFNotificationCenterError``. The default hands
  /// them to `Diagnostics`, which writes them to standard error unless it has a handler.
  ///
  /// It is called on the thread of the function that failed, before that returns. To have no bus
  /// is not an error: the post has reached the observers of this process, and is sent when a bus
  /// appears.
  public static var onError: @Sendable (any Error) -> Void {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  /// Calls a function, and hands its error to `onError`.
  static func report(_ function: String, _ name: CFString?, _ body: () throws -> Void) {
    do {
      try body()
    } catch DarwinNotifyError.notConnected, DistributedNotificationError.failed(.notConnected) {
      // Done, and heard wherever it can be.
    } catch {
      onError(CFNotificationCenterError(function: function, name: name, cause: error))
    }
  }
}

extension CFNotificationCenter: Hashable {
  /// Returns whether two references are to the same center.
  public static func == (left: CFNotificationCenter, right: CFNotificationCenter) -> Bool {
    left === right
  }

  /// Hashes the identity of the center.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// Returns the type of notification centers, which no other type shares.
public func CFNotificationCenterGetTypeID() -> CFTypeID {
  CFTypeID(bitPattern: ObjectIdentifier(CFNotificationCenter.self).hashValue)
}

/// Returns the center of the process, whose posts call the observers before they return, on the
/// thread of the poster. Objects are compared as pointers.
///
/// The corresponding C function is `dn_center_local`.
public func CFNotificationCenterGetLocalCenter() -> CFNotificationCenter! {
  .local
}

/// Returns the center whose notifications are names, heard by every process on the same bus and by
/// the user's processes with this library. Callbacks run on the main queue, and get neither object
/// nor user info.
///
/// The corresponding C function is `dn_center_darwin`.
public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter! {
  .darwin
}

/// Returns the center whose notifications carry an object and a user info to every process on the
/// same bus. Callbacks run on the main queue. An object is a pointer to an `NSString` and compared
/// by its text; a callback that was registered with one gets that pointer. A user info is a
/// property list.
///
/// The corresponding C function is `dn_center_distributed`.
public func CFNotificationCenterGetDistributedCenter() -> CFNotificationCenter! {
  .distributed
}
