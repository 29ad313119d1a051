// The errors that a service returns, in their form on the bus.

internal import Delegation
internal import DarwinNotify

/// An error that a service has returned.
struct Refusal: Error {
  /// The name of the D-Bus error.
  let name: String
  let message: String
  /// The error for programs, as the value of `CallOutcome.valueKey`.
  let details: PropertyList?

  init(_ name: String, _ message: String, details: PropertyList? = nil) {
    self.name = name
    self.message = message
    self.details = details
  }
}

/// The names of D-Bus errors with a special meaning.
enum StandardError {
  static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
  static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
  static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
  static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
}

// MARK: - For the service

extension Refusal {
  /// Describes an error that a handler threw and its request does not declare.
  init(_ error: any Error) {
    guard let error = error as? BusError else {
      let name =
        switch error {
        case RemoteError.invalid: StandardError.invalidArguments
        case RemoteError.limitReached: StandardError.limitsExceeded
        default: RequestServer.failed
        }
      self.init(name, "\(error)")
      return
    }
    switch error.code {
    case .unavailable:
      self.init(RequestServer.unavailable, error.reasons.joined(separator: ", "))
    case .missingHandler: self.init(RequestServer.unavailable, "\(error)")
    case .timedOut: self.init(RequestServer.timedOut, "\(error)")
    case .cancelled: self.init(RequestServer.cancelled, "\(error)")
    case .unanswered: self.init(RequestServer.unanswered, "\(error)")
    default: self.init(RequestServer.failed, error.underlying.map { "\($0)" } ?? "\(error)")
    }
  }
}

// MARK: - For the caller

extension Refusal {
  /// The error that the caller of a request gets: the one that the handler threw, if the request
  /// declares its type.
  func error<Request: RemoteRequest>(of type: Request.Type, service: String) -> any Error {
    switch name {
    case RequestServer.unavailable:
      return BusError(.unavailable, kind: Request.kind, endpoint: service, reasons: [message])
    case RequestServer.unanswered: return BusError(.unanswered, kind: Request.kind)
    case RequestServer.cancelled: return BusError.cancelled
    case RequestServer.timedOut: return BusError.timedOut
    case StandardError.unknownMethod:
      return BusError(.missingHandler, kind: Request.kind, endpoint: service)
    case StandardError.invalidArguments: return RemoteError.invalid.about(message)
    case StandardError.accessDenied: return RemoteError.notAllowed.about(message)
    case StandardError.limitsExceeded: return RemoteError.limitReached.about(message)
    default:
      // An older or newer program may throw an error that this one does not know.
      let declared = details.flatMap { try? decodeFailure($0, of: Request.self) }
      return declared ?? RemoteError.failed.about(message, name: name)
    }
  }
}

extension CallOutcome {
  /// The error of a completed call; `nil` if there is a reply.
  func error(kind: String, service: String) -> (any Error)? {
    guard let error else { return nil }
    switch error {
    case .cancelled: return CancellationError()
    case .timedOut: return BusError.timedOut
    case .noService: return RemoteError.noService.about(service)
    case .peerGone: return RemoteError.serviceGone.about(service)
    case .notConnected: return RemoteError.notConnected
    case .notAuthorized: return RemoteError.notAllowed.about(message)
    case .limitReached: return RemoteError.limitReached.about(message)
    case .tooLarge: return RemoteError.limitReached.about("the response of \(kind) is too large")
    case .refused: return Refusal(errorName ?? RequestServer.failed, message, details: details)
    default: return RemoteError.invalid.about("the response of \(kind): \(error)")
    }
  }
}
