// Answers a request from a callback.

/// The duty of a handler to answer one request.
///
/// The first answer counts. If all references are dropped without one, the request fails with
/// ``BusError/unanswered(kind:)``: a request ends exactly once, whatever the handler does.
public final class Reply<Response: Sendable>: Sendable {
  private let duty: Duty<Result<Response, any Error>>

  init(_ duty: Duty<Result<Response, any Error>>) {
    self.duty = duty
  }

  /// Answers. It may be called on any thread.
  ///
  /// - Parameter result: the response or an error, which may be a ``Decline``.
  /// - Returns: false if the request has an answer already, or nobody waits for it any more.
  @discardableResult public func callAsFunction(_ result: Result<Response, any Error>) -> Bool {
    duty.fulfil(result)
  }
}
