// Says how a request has failed.

/// How a request has failed.
public enum BusError: Error, Sendable {
  /// No handler is registered for requests of this kind at this endpoint.
  ///
  /// It has the text of the endpoint or platform, `nil` if the request was not sent to one.
  case missingHandler(kind: String, endpoint: String?)

  /// There are handlers, but each of them was unavailable or has declined.
  ///
  /// It has the reasons of those that have declined.
  case unavailable(kind: String, endpoint: String?, reasons: [String])

  /// The time was over before there was an answer.
  case timedOut

  /// The task of the caller was cancelled before there was an answer.
  case cancelled

  /// The handler has dropped the request without an answer.
  case unanswered(kind: String)

  /// The handler, or an interceptor, has thrown this.
  case failed(any Error)

  /// Takes over an error that was thrown on the way.
  @usableFromInline init(_ error: any Error) {
    switch error {
    case let error as BusError: self = error
    case is CancellationError: self = .cancelled
    default: self = .failed(error)
    }
  }
}

extension BusError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch self {
    case .missingHandler(let kind, let endpoint):
      "no handler for \(kind)\(Self.place(endpoint))"
    case .unavailable(let kind, let endpoint, let reasons):
      "no handler for \(kind)\(Self.place(endpoint)) is available"
        + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
    case .timedOut: "no answer in time"
    case .cancelled: "cancelled"
    case .unanswered(let kind): "the handler for \(kind) has not answered"
    case .failed(let error): "failed: \(error)"
    }
  }

  private static func place(_ endpoint: String?) -> String {
    endpoint.map { " at \($0)" } ?? ""
  }
}

/// What a handler throws to let the next one have the request.
public struct Decline: Error, Equatable, Sendable {
  /// Why, for ``BusError/unavailable(kind:endpoint:reasons:)`` and the trace.
  public let reason: String

  /// Declines a request.
  ///
  /// - Parameter reason: why.
  public init(_ reason: String) {
    self.reason = reason
  }
}
