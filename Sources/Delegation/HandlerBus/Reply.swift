// Answers a request from a callback.

/// Answers one request.
///
/// The first answer counts. If all references are dropped without one, the request fails with
/// ``BusError/unanswered(kind:)``: a request ends exactly once, whatever the handler does.
public final class Reply<Response: Sendable>: Sendable {
  private let duty: Duty<Result<Response, any Error>>

  init(_ duty: Duty<Result<Response, any Error>>) {
    self.duty = duty
  }

  /// Answers the request. It may be called on any thread.
  ///
  /// - Parameter result: the response or an error, which may be a ``Decline``.
  /// - Returns: false if the request already has an answer, or nobody waits for it any more.
  @discardableResult public func callAsFunction(_ result: Result<Response, any Error>) -> Bool {
    duty.fulfil(result)
  }
}
