// The errors of requests.

public import FoundationEssentials

/// How a request failed.
///
/// A `catch` clause or a `switch` names what happened, as in `catch .timedOut`; the properties say
/// the details.
public struct BusError: Error, Sendable {
  private enum Code {
    case missingHandler, unavailable, timedOut, cancelled, unanswered, failed
  }

  private let code: Code

  /// The kind of the request.
  public private(set) var kind: String?

  /// The endpoint or platform; `nil` if the request had no destination.
  public private(set) var endpoint: String?

  /// Why handlers have declined.
  public private(set) var reasons: [String] = []

  /// The error that the handler or an interceptor threw.
  public private(set) var underlying: (any Error)?

  private init(_ code: Code) {
    self.code = code
  }

  /// No handler is registered for requests of this ``kind`` at this ``endpoint``.
  public static let missingHandler = Self(.missingHandler)

  /// There are handlers, but each of them was unavailable or declined, for these ``reasons``.
  public static let unavailable = Self(.unavailable)

  /// The timeout expired before there was an answer.
  public static let timedOut = Self(.timedOut)

  /// The caller's task was cancelled before there was an answer.
  public static let cancelled = Self(.cancelled)

  /// The handler dropped the request without an answer.
  public static let unanswered = Self(.unanswered)

  /// The handler or an interceptor threw the ``underlying`` error.
  public static let failed = Self(.failed)

  /// Returns whether two errors are of the same kind, whatever their details: `catch .timedOut`.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  public static func ~= (pattern: Self, error: Self) -> Bool {
    pattern.code == error.code
  }

  // Disfavored, so that a pattern without a type is not ambiguous between this and another error.
  /// Lets a `catch` clause name one of these errors where other errors may also occur.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }

  @usableFromInline package static func missingHandler(kind: String, endpoint: String?) -> Self {
    var error = Self.missingHandler
    (error.kind, error.endpoint) = (kind, endpoint)
    return error
  }

  @usableFromInline package static func unavailable(
    kind: String, endpoint: String?, reasons: [String]
  ) -> Self {
    var error = Self.unavailable
    (error.kind, error.endpoint, error.reasons) = (kind, endpoint, reasons)
    return error
  }

  @usableFromInline package static func unanswered(kind: String) -> Self {
    var error = Self.unanswered
    error.kind = kind
    return error
  }

  /// Converts an error thrown while the request was handled.
  @usableFromInline init(_ error: any Error) {
    switch error {
    case let error as BusError: self = error
    case is CancellationError: self = .cancelled
    default:
      self = .failed
      underlying = error
    }
  }
}

extension BusError: CustomStringConvertible {
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
}

extension BusError: LocalizedError {
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
