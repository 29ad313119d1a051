// The errors of tokens.

internal import CDarwinNotify

/// An error of ``NotifyToken``: a status of `<notify.h>`.
///
/// The corresponding C constants are the ones that begin with `NOTIFY_STATUS_`.
public struct NotifyError: Error, RawRepresentable, Hashable, Sendable {
  /// The status, such as 7 for ``notAuthorized``; never 0.
  public let rawValue: UInt32

  /// Creates an error from its status.
  ///
  /// - Parameter rawValue: a status that is not 0.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  private init(_ status: Int32) {
    self.init(rawValue: UInt32(status))
  }

  /// The name is empty, longer than 511 bytes or malformed, or contains a NUL.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_NAME`.
  public static let invalidName = Self(NOTIFY_STATUS_INVALID_NAME)

  /// The token is cancelled, or belongs to the parent process.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_TOKEN`.
  public static let invalidToken = Self(NOTIFY_STATUS_INVALID_TOKEN)

  /// Never thrown: there are no Mach ports.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_PORT`.
  public static let invalidPort = Self(NOTIFY_STATUS_INVALID_PORT)

  /// The other token has no descriptor to share.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_FILE`.
  public static let invalidFile = Self(NOTIFY_STATUS_INVALID_FILE)

  /// The number is not a signal number.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_SIGNAL`.
  public static let invalidSignal = Self(NOTIFY_STATUS_INVALID_SIGNAL)

  /// Not possible with this token, or at all.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_REQUEST`.
  public static let invalidRequest = Self(NOTIFY_STATUS_INVALID_REQUEST)

  /// The name belongs to another user.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_NOT_AUTHORIZED`.
  public static let notAuthorized = Self(NOTIFY_STATUS_NOT_AUTHORIZED)

  /// The process has disabled the library.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_OPT_DISABLE`.
  public static let disabled = Self(NOTIFY_STATUS_OPT_DISABLE)

  /// Neither a bus nor a table has been found yet.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_SERVER_NOT_FOUND`.
  public static let serverNotFound = Self(NOTIFY_STATUS_SERVER_NOT_FOUND)

  /// Never thrown in Swift: a pointer is NULL.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_NULL_INPUT`.
  public static let nullInput = Self(NOTIFY_STATUS_NULL_INPUT)

  /// Out of memory, threads or descriptors.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_FAILED`.
  public static let failed = Self(NOTIFY_STATUS_FAILED)

  // Disfavored, so that `case .notAuthorized` is not ambiguous between this type and another error
  // type.
  /// Lets a `catch` clause name one of these errors where other errors may also occur.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    error as? Self == pattern
  }
}

extension NotifyError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    switch self {
    case .invalidName: "invalid name"
    case .invalidToken: "invalid token"
    case .invalidPort: "invalid port"
    case .invalidFile: "invalid file"
    case .invalidSignal: "invalid signal"
    case .invalidRequest: "invalid request"
    case .notAuthorized: "not authorized"
    case .disabled: "the library is disabled"
    case .serverNotFound: "neither a bus nor a shared table was found"
    case .nullInput: "a pointer is null"
    case .failed: "out of memory, threads or descriptors"
    default: "status \(rawValue)"
    }
  }
}
