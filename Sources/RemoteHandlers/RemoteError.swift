// The errors of requests between processes.

internal import DarwinNotify
public import DarwinNotifySupport
internal import Delegation
public import FoundationEssentials

/// How a request to another process failed, or a service could not be opened.
///
/// Requests throw it as the `BusError.underlying` error; what a handler can run into
/// in the same process as well is a `BusError` of its own.
public struct RemoteError: CodedError, Sendable {
  /// What happened.
  public enum Code: Sendable {
    /// There is no bus, or it was lost before there was an answer.
    case notConnected
    /// Nobody owns the name of the service, and the bus cannot start it, or its owner has no such
    /// service.
    case noService
    /// The service left the bus before it answered.
    case serviceGone
    /// Another process, or another service of this one, has the name.
    case nameTaken
    /// The service or the bus does not allow it.
    case notAllowed
    /// Too many requests are in progress, or they are too large.
    case limitReached
    /// A name, a kind, an argument or a response does not fit.
    case invalid
    /// The handler in the other process failed with an error that the request does not declare; the
    /// details contain its text.
    case failed
  }

  /// What happened.
  public let code: Code

  /// The name of the service concerned, or a sentence that describes the error.
  public private(set) var detail = ""

  /// The name of the D-Bus error that the service has answered with.
  public private(set) var name: String?

  private init(_ code: Code) {
    self.code = code
  }

  /// For `catch`: ``Code/notConnected``.
  public static let notConnected = Self(.notConnected)
  /// For `catch`: ``Code/noService``.
  public static let noService = Self(.noService)
  /// For `catch`: ``Code/serviceGone``.
  public static let serviceGone = Self(.serviceGone)
  /// For `catch`: ``Code/nameTaken``.
  public static let nameTaken = Self(.nameTaken)
  /// For `catch`: ``Code/notAllowed``.
  public static let notAllowed = Self(.notAllowed)
  /// For `catch`: ``Code/limitReached``.
  public static let limitReached = Self(.limitReached)
  /// For `catch`: ``Code/invalid``.
  public static let invalid = Self(.invalid)
  /// For `catch`: ``Code/failed``.
  public static let failed = Self(.failed)

  /// Adds the details.
  func about(_ detail: String, name: String? = nil) -> Self {
    var error = self
    (error.detail, error.name) = (detail, name)
    return error
  }
}

extension RemoteError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch code {
    case .notConnected: "not connected to a bus"
    case .noService: "there is no service \(detail)"
    case .serviceGone: "\(detail) has left the bus"
    case .nameTaken: "the name \(detail) is taken"
    case .notAllowed: "not allowed: \(detail)"
    case .limitReached: "limit reached: \(detail)"
    case .invalid: "invalid: \(detail)"
    case .failed: detail.isEmpty ? name ?? "failed" : detail
    }
  }
}

extension RemoteError: LocalizedError {
  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

extension RemoteError {
  /// Converts an error of the library.
  init(_ error: DarwinNotifyError, _ name: String) {
    self =
      switch error {
      case .notConnected: .notConnected
      case .nameTaken: .nameTaken.about(name)
      case .notAuthorized: .notAllowed.about(name)
      case .invalidArgument: .invalid.about(name)
      default: .limitReached.about("\(error)")
      }
  }
}
