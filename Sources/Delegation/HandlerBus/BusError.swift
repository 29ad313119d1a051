// The errors of requests.

public import DarwinNotifySupport
public import FoundationEssentials

/// How a request failed.
public struct BusError: CodedError, Sendable {
  /// What happened.
  public enum Code: Sendable {
    /// No handler is registered for this kind of request at this endpoint.
    case missingHandler
    /// All handlers were unavailable or declined, for these ``BusError/reasons``.
    case unavailable
    /// The timeout expired before there was an answer.
    case timedOut
    /// The caller's task was cancelled before there was an answer.
    case cancelled
    /// The handler dropped the request without an answer.
    case unanswered
    /// The handler or an interceptor threw the ``BusError/underlying`` error.
    case failed
  }

  /// What happened.
  public let code: Code

  /// The kind of the request.
  public private(set) var kind: String?

  /// The endpoint or platform; `nil` if the request had no destination.
  public private(set) var endpoint: String?

  /// Why handlers have declined.
  public private(set) var reasons: [String] = []

  /// The error that the handler or an interceptor threw.
  public private(set) var underlying: (any Error)?

  package init(
    _ code: Code, kind: String? = nil, endpoint: String? = nil, reasons: [String] = []
  ) {
    self.code = code
    self.kind = kind
    self.endpoint = endpoint
    self.reasons = reasons
  }

  /// Converts an error thrown while the request was handled.
  init(_ error: any Error) {
    switch error {
    case let error as BusError: self = error
    case is CancellationError: self = .cancelled
    default:
      self = .failed
      underlying = error
    }
  }

  /// For `catch`: ``Code/missingHandler``.
  public static let missingHandler = Self(.missingHandler)
  /// For `catch`: ``Code/unavailable``.
  public static let unavailable = Self(.unavailable)
  /// For `catch`: ``Code/timedOut``.
  public static let timedOut = Self(.timedOut)
  /// For `catch`: ``Code/cancelled``.
  public static let cancelled = Self(.cancelled)
  /// For `catch`: ``Code/unanswered``.
  public static let unanswered = Self(.unanswered)
  /// For `catch`: ``Code/failed``.
  public static let failed = Self(.failed)
}

extension BusError: CustomStringConvertible, LocalizedError {
  /// A sentence for the log.
  public var description: String {
    let request = (kind ?? "the request") + (endpoint.map { " at \($0)" } ?? "")
    return switch code {
    case .missingHandler: "no handler for \(request)"
    case .unavailable:
      "no handler for \(request) is available"
        + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
    case .timedOut: "no answer in time"
    case .cancelled: "cancelled"
    case .unanswered: "the handler for \(request) did not answer"
    case .failed: "failed" + (underlying.map { ": \($0)" } ?? "")
    }
  }

  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

/// Thrown by a handler to pass the request to the next one.
public struct Decline: Error, Equatable, Sendable {
  /// The reason, for ``BusError/unavailable`` and the trace.
  public let reason: String

  /// Declines a request.
  ///
  /// - Parameter reason: the reason.
  public init(_ reason: String) {
    self.reason = reason
  }
}
