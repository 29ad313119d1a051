// The errors of requests.

/// How a request failed.
public enum BusError: Error, Sendable {
  /// No handler is registered for requests of this kind at this endpoint or platform; `nil` if the
  /// request had no destination.
  case missingHandler(kind: String, endpoint: String?)

  /// There are handlers, but each of them was unavailable or declined, for these reasons.
  case unavailable(kind: String, endpoint: String?, reasons: [String])

  /// The timeout expired before there was an answer.
  case timedOut

  /// The caller's task was cancelled before there was an answer.
  case cancelled

  /// The handler dropped the request without an answer.
  case unanswered(kind: String)

  /// The handler or an interceptor threw this error.
  case failed(any Error)

  /// Converts an error thrown while the request was handled.
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
    case .unanswered(let kind): "the handler for \(kind) did not answer"
    case .failed(let error): "failed: \(error)"
    }
  }

  private static func place(_ endpoint: String?) -> String {
    endpoint.map { " at \($0)" } ?? ""
  }
}

/// Thrown by a handler to pass the request to the next one.
public struct Decline: Error, Equatable, Sendable {
  /// The reason, for ``BusError/unavailable(kind:endpoint:reasons:)`` and the trace.
  public let reason: String

  /// Declines a request.
  ///
  /// - Parameter reason: the reason.
  public init(_ reason: String) {
    self.reason = reason
  }
}
