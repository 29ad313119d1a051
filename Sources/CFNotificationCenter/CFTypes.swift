// Names the types of Core Foundation that the functions of this module take.

internal import DarwinNotifySupport

/// Text. Apple's is a class that `String` is bridged to; here `as CFString` changes nothing.
public typealias CFString = String

/// A dictionary. Apple's is a class that Swift dictionaries are bridged to.
public typealias CFDictionary = [AnyHashable: Any]

/// A signed number of the size of a pointer.
public typealias CFIndex = Int

/// Bits of options.
public typealias CFOptionFlags = UInt

/// Identifies a type of Core Foundation.
public typealias CFTypeID = UInt

/// The name of a notification. Two names are equal if their UTF-8 bytes are the same.
public struct CFNotificationName: RawRepresentable, Hashable, Sendable {
  /// The text of the name.
  public let rawValue: CFString

  /// Makes a name of its text.
  public init(rawValue: CFString) {
    self.rawValue = rawValue
  }

  /// Makes a name of its text.
  public init(_ rawValue: CFString) {
    self.init(rawValue: rawValue)
  }

  /// Compares two names byte by byte.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.rawValue) == ExactString(right.rawValue)
  }

  /// Hashes the bytes of the name.
  public func hash(into hasher: inout Hasher) {
    ExactString(rawValue).hash(into: &hasher)
  }
}

/// A function that is called for a notification: the type of stored callbacks.
///
/// Apple's is a C function and so cannot capture anything; this one may capture sendable values,
/// which the center then keeps until the observer is removed. Its parameters are the center, the
/// observer as it was added, the name that was posted, the object and the user info. The pointers
/// are borrowed for the call.
public typealias CFNotificationCallback =
  @Sendable (
    CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?,
    CFDictionary?
  ) -> Void

/// What happens to posts of the distributed center while the observers of the process are
/// suspended. The other centers ignore it.
public enum CFNotificationSuspensionBehavior: CFIndex, Sendable {
  /// They are not kept.
  case drop = 1

  /// The last one of each name and object is kept.
  case coalesce = 2

  /// They are kept, as long as there is room.
  case hold = 3

  /// They are delivered, after all that were kept for any observer.
  case deliverImmediately = 4
}

/// Posts to all observers at once, including suspended ones.
public let kCFNotificationDeliverImmediately: CFOptionFlags = 1 << 0

/// Posts to all sessions of the user.
public let kCFNotificationPostToAllSessions: CFOptionFlags = 1 << 1
