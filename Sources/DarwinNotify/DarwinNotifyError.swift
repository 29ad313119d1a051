// The errors of this module.

internal import Glibc

/// An error of the library: an error number of the system.
///
/// The corresponding C results are the negative error numbers that `error.h` lists.
public struct DarwinNotifyError: Error, RawRepresentable, Hashable, Sendable {
  /// The positive error number, such as `EINVAL`.
  public let rawValue: Int32

  /// Creates an error from its number.
  ///
  /// - Parameter rawValue: a positive error number.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// A name or an address is empty or malformed, or contains a NUL; nothing was changed.
  ///
  /// The corresponding C result is `-EINVAL`.
  public static let invalidArgument = Self(rawValue: EINVAL)

  /// A name is longer than 511 bytes; nothing was changed.
  ///
  /// The corresponding C result is `-ENAMETOOLONG`.
  public static let nameTooLong = Self(rawValue: ENAMETOOLONG)

  /// There is no memory left; nothing was changed.
  ///
  /// The corresponding C result is `-ENOMEM`.
  public static let outOfMemory = Self(rawValue: ENOMEM)

  /// The bus refuses more rules, or too many names wait for a bus that does not take them.
  ///
  /// The corresponding C result is `-ENOBUFS`.
  public static let limitReached = Self(rawValue: ENOBUFS)

  /// The timeout has expired.
  ///
  /// The corresponding C result is `-ETIMEDOUT`.
  public static let timedOut = Self(rawValue: ETIMEDOUT)

  /// Nobody outside the process can be reached: a post or a registration has taken effect and need
  /// not be repeated. From a function that needs a bus: there is no bus, or it was lost.
  ///
  /// The corresponding C results are `DN_NOT_CONNECTED` and `-ENOTCONN`.
  public static let notConnected = Self(rawValue: ENOTCONN)

  /// The name belongs to another user; nothing was changed.
  ///
  /// The corresponding C result is `-EACCES`.
  public static let notAuthorized = Self(rawValue: EACCES)

  /// The contents of a notification exceed a limit; nothing was sent.
  ///
  /// The corresponding C result is `-E2BIG`.
  public static let tooLarge = Self(rawValue: E2BIG)

  /// A call was cancelled.
  package static let cancelled = Self(rawValue: ECANCELED)

  /// Nobody owns the name of a service.
  package static let noService = Self(rawValue: ENXIO)

  /// A service has left the bus before it answered.
  package static let peerGone = Self(rawValue: ECONNRESET)

  /// A service has answered with an error.
  package static let refused = Self(rawValue: EREMOTEIO)

  /// Somebody has the name of a service.
  package static let nameTaken = Self(rawValue: EEXIST)

  // Disfavored, so that `case .notAuthorized` is not ambiguous between this type and another error
  // type.
  /// Lets a `catch` clause name one of these errors where other errors may also occur.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    error as? Self == pattern
  }
}

extension DarwinNotifyError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    switch self {
    case .invalidArgument: "invalid argument"
    case .nameTooLong: "name too long"
    case .outOfMemory: "out of memory"
    case .limitReached: "limit reached"
    case .timedOut: "timed out"
    case .notConnected: "not connected to a bus"
    case .notAuthorized: "not authorized"
    case .tooLarge: "too large"
    default: String(cString: strerror(rawValue))
    }
  }
}
