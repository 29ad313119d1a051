// Names the errors of tokens.

internal import CDarwinNotify

/// An error of ``NotifyToken``, which is a status of `<notify.h>`.
///
/// The corresponding C constants are those that begin with `NOTIFY_STATUS_`.
public struct NotifyError: Error, RawRepresentable, Hashable, Sendable {
  /// The status, such as 7 for ``notAuthorized``: not 0.
  public let rawValue: UInt32

  /// Makes an error from its status.
  ///
  /// - Parameter rawValue: a status that is not 0.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  private init(_ status: Int32) {
    self.init(rawValue: UInt32(status))
  }

  /// The name is empty, longer than 511 bytes or malformed, or has a NUL in it.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_NAME`.
  public static let invalidName = Self(NOTIFY_STATUS_INVALID_NAME)

  /// The token is cancelled, or belongs to the process that this one was forked from.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_TOKEN`.
  public static let invalidToken = Self(NOTIFY_STATUS_INVALID_TOKEN)

  /// Does not occur: there are no Mach ports.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_PORT`.
  public static let invalidPort = Self(NOTIFY_STATUS_INVALID_PORT)

  /// The other token has no descriptor to share, or a file cannot be written.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_FILE`.
  public static let invalidFile = Self(NOTIFY_STATUS_INVALID_FILE)

  /// The number is not that of a signal.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_INVALID_SIGNAL`.
  public static let invalidSignal = Self(NOTIFY_STATUS_INVALID_SIGNAL)

  /// It is not possible with such a token, or at all.
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

  /// No bus has been found yet.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_SERVER_NOT_FOUND`.
  public static let serverNotFound = Self(NOTIFY_STATUS_SERVER_NOT_FOUND)

  /// Does not occur in Swift: a pointer is NULL.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_NULL_INPUT`.
  public static let nullInput = Self(NOTIFY_STATUS_NULL_INPUT)

  /// Memory, a thread or a descriptor cannot be had.
  ///
  /// The corresponding C constant is `NOTIFY_STATUS_FAILED`.
  public static let failed = Self(NOTIFY_STATUS_FAILED)

  // Disfavored, so that `case .notAuthorized` of one type of errors is not ambiguous with that of
  // another, which this takes as well.
  /// Lets a `catch` clause name one of the errors also where other errors may come.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    error as? Self == pattern
  }
}

extension NotifyError: CustomStringConvertible {
  /// What happened, in words.
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
    case .serverNotFound: "no bus was found"
    case .nullInput: "a pointer is null"
    case .failed: "out of memory, threads or descriptors"
    default: "status \(rawValue)"
    }
  }
}
